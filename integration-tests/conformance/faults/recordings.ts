import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** What a connector printed, and how it ended. */
export interface Answer {
  readonly stdout: string
  readonly exitCode: number | null
}

/**
 * The answer of a good connector. With a folder for recordings the same command with the same
 * files runs once, whatever is done to its answer; with a state it always runs, because the
 * service may have forgotten or changed what the state stands for.
 */
export async function answerOf(
  executable: string,
  args: readonly string[],
  folder: string,
): Promise<Answer> {
  if (folder === '' || args.includes('--state')) return answer(executable, args)
  const recording = join(folder, `${keyOf(args)}.json`)
  if (!existsSync(recording)) {
    // A name of its own until it is complete: others may look for it at the same time.
    const partial = `${recording}.${process.pid}`
    writeFileSync(partial, JSON.stringify(await answer(executable, args)))
    renameSync(partial, recording)
  }
  return JSON.parse(readFileSync(recording, 'utf8')) as Answer
}

async function answer(executable: string, args: readonly string[]): Promise<Answer> {
  const child = spawn(executable, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const stdout = await text(child.stdout)
  return { stdout, exitCode: await ended }
}

function keyOf(args: readonly string[]): string {
  const hash = createHash('sha256')
  for (const arg of args) hash.update(existsSync(arg) ? readFileSync(arg) : arg)
  return hash.digest('hex')
}
