import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './files.ts'
import { type Collector, createCollector } from './output.ts'

/** What a program of a connector runs with, beside the process's own. */
interface Surroundings {
  readonly stdout?: Collector
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program of a connector in this process; objects among the words are written to files. */
export async function runConnector<Connector, More extends object = object>(
  program: (
    argv: readonly string[],
    connector: Connector,
    io: Required<Surroundings> & More & { readonly stderr: Collector },
  ) => Promise<number>,
  connector: Connector,
  words: readonly (string | object)[],
  { stdout = createCollector(), env = {}, ...more }: Surroundings & More = {} as More,
) {
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const argv = words.map((word, i) => {
    if (typeof word === 'string') return word
    const file = join(folder.path, `${i}.json`)
    writeFileSync(file, JSON.stringify(word))
    return file
  })
  const stderr = createCollector()
  const io = { ...(more as unknown as More), stdout, stderr, env }
  const exitCode = await program(argv, connector, io)
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}
