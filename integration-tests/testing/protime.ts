import { Writable } from 'node:stream'
import { runProtime } from '../../src/cli/main.ts'

/** How a command of `protime` ended. */
export interface ProtimeRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command of `protime` in this process. */
export async function protime(...argv: readonly string[]): Promise<ProtimeRun> {
  const [stdout, stderr] = [collector(), collector()]
  const exitCode = await runProtime(argv, { stdout, stderr, env: {} })
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}

class Collector extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8')
    done()
  }
}

function collector(): Collector {
  return new Collector()
}
