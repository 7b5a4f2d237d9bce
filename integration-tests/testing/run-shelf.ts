import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { runAirbyteDestination } from '../../src/protocol/airbyte/destination/cli.ts'
import type { runSingerTarget } from '../../src/protocol/singer/target/cli.ts'
import { type Collector, createCollector } from './collector.ts'
import { temporaryFolder } from './files.ts'
import type { Shelf } from './shelf.ts'

type Program = typeof runAirbyteDestination | typeof runSingerTarget

/** What a program is run with. */
export interface Given {
  readonly words: readonly (string | object)[]
  /** Lines of stdin; objects are messages. */
  readonly input?: readonly (string | object)[] | Readable
  readonly env?: Readonly<Record<string, string>>
  readonly stdout?: Collector
}

/** Runs a program of the shelf in this process; objects among the words are written to files. */
export async function runShelf(
  program: Program,
  shelf: Shelf,
  { words, input = [], env = {}, ...given }: Given,
) {
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const argv = words.map((word, i) => {
    if (typeof word === 'string') return word
    const file = join(folder.path, `${i}.json`)
    writeFileSync(file, JSON.stringify(word))
    return file
  })
  const { stdout = createCollector() } = given
  const stderr = createCollector()
  const text = (line: string | object) =>
    `${typeof line === 'string' ? line : JSON.stringify(line)}\n`
  const stdin = input instanceof Readable ? input : Readable.from([input.map(text).join('')])
  const exitCode = await program(argv, shelf.connector, { stdin, stdout, stderr, env })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}
