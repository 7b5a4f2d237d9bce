import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/emulator.ts'
import { runProtime } from '../../src/cli/main.ts'
import { REAL_TIME } from '../../src/http/clock.ts'
import { startChild } from '../testing/child.ts'
import { temporaryFolder } from '../testing/files.ts'
import { createCollector } from '../testing/output.ts'
import { parseLines } from '../testing/run.ts'

/** One line of what `protime write` prints. */
interface OutcomeLine {
  readonly line?: number
  readonly outcome: string
  readonly reason?: string
  readonly status?: number
  readonly relinked?: boolean
}

interface Written {
  readonly exitCode: number
  readonly lines: readonly OutcomeLine[]
  readonly outcomes: readonly string[]
  readonly stdout: string
  readonly stderr: string
}

/** A tenant with few records, and `protime write` for it. */
export interface WritableTenant {
  readonly emulator: Emulator
  /** Writes records with these settings and options; records that are texts are lines as they are. */
  write(
    object: string,
    records: readonly (object | string)[],
    settings?: object,
    ...words: readonly string[]
  ): Promise<Written>
  /** Starts `bin/protime write` with records, in the same folder. */
  start(object: string, records: readonly object[]): ReturnType<typeof startChild>
  /** What was requested with these methods since the start, with the end of the path. */
  requested(...methods: readonly string[]): string[]
  /** Values and ids under one name of a collection. */
  links(collection: string, name: string): Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Waits for late effects take a hundredth of their time. */
export const QUICK = {
  sleep: (ms: number, signal: AbortSignal) => REAL_TIME.sleep(ms / 100, signal),
}

export async function openTenant(options: EmulatorOptions = {}): Promise<WritableTenant> {
  const emulator = await startEmulator({
    people: 12,
    months: 0,
    clients: [{ id: 'writer', secret: 'secret-of-the-writer', scopes: 'all' }],
    ...options,
  })
  const folder = temporaryFolder()
  const [input, config] = ['input.jsonl', 'config.json'].map((name) => join(folder.path, name))
  return {
    emulator,
    async write(object, records, settings = {}, ...words) {
      const text = records.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
      writeFileSync(input ?? '', text.join('\n'))
      const settled = JSON.stringify({ ...emulator.config(), ...settings })
      writeFileSync(config ?? '', settled, { mode: 0o600 })
      const [stdout, stderr] = [createCollector(), createCollector()]
      const exitCode = await runProtime(
        ['write', object, '--from', input ?? '', '--config', config ?? '', ...words],
        { stdout, stderr, time: QUICK },
      )
      const lines = parseLines<OutcomeLine>(stdout.text())
      const outcomes = lines.map(({ outcome }) => outcome)
      return { exitCode, lines, outcomes, stdout: stdout.text(), stderr: stderr.text() }
    },
    start(object, records) {
      const file = join(folder.path, 'started.jsonl')
      writeFileSync(file, records.map((one) => JSON.stringify(one)).join('\n'))
      writeFileSync(config ?? '', JSON.stringify(emulator.config()), { mode: 0o600 })
      const words = ['write', object, '--from', file, '--config', config ?? '']
      return startChild('protime', words, { cwd: folder.path })
    },
    requested: (...methods) =>
      emulator.requests
        .filter(({ method, path }) => methods.includes(method) && !path.includes('/connect/'))
        .map(({ method, path }) => `${method} ${path.split('/api/v1').at(-1)}`),
    links: (collection, name) =>
      Object.fromEntries(
        emulator
          .references(collection)
          .filter(({ referenceName }) => referenceName === name)
          .map(({ externalReference, internalReference }) => [
            externalReference,
            internalReference,
          ]),
      ),
    async close() {
      await emulator.close()
      folder.remove()
    },
  }
}
