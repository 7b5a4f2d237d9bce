import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { PROJECT } from '../connector.ts'
import { type Judged, measure } from '../measure.ts'

const RECORDS = 10_000
const LIMIT_MEGABYTES = 200

/** The references of ten thousand people in one run: all new, then all equal, then a tenth changed. */
export async function* write(): AsyncGenerator<Judged> {
  const emulator = await startEmulator({
    people: 1,
    months: 1,
    pageSize: 1000,
    // Ids that no person has.
    unknownRecord: 'accepted',
    clients: [{ id: 'bench', secret: 'secret-of-the-bench', scopes: 'all' }],
  })
  const folder = temporaryFolder()
  const config = join(folder.path, 'config.json')
  writeFileSync(config, JSON.stringify(emulator.config()))
  try {
    for (const [what, shift] of [
      ['new', () => 0],
      ['equal', () => 0],
      ['a tenth of them changed', (i: number) => (i % 10 === 0 ? RECORDS : 0)],
    ] as const) {
      const input = join(folder.path, 'input.jsonl')
      writeFileSync(
        input,
        references((i) => i + shift(i)),
      )
      yield await run(emulator, what, input, config)
    }
  } finally {
    await emulator.close()
    folder.remove()
  }
}

async function run(
  emulator: Emulator,
  what: string,
  input: string,
  config: string,
): Promise<Judged> {
  const before = emulator.requests.length
  const words = ['write', 'external_references', '--from', input, '--config', config]
  const cost = await measure([join(PROJECT, 'bin', 'protime'), ...words])
  const requests = emulator.requests.length - before
  const line = `${RECORDS} references, ${what}: ${requests} requests, ${cost.seconds.toFixed(1)} s, ${cost.peakMegabytes.toFixed(0)} MB (under ${LIMIT_MEGABYTES})`
  return { line, isMet: cost.peakMegabytes < LIMIT_MEGABYTES }
}

function references(idOf: (i: number) => number): string {
  const lines = Array.from({ length: RECORDS }, (_, i) =>
    JSON.stringify({
      collection: 'people',
      name: 'hr-number',
      value: `E-${i}`,
      internalReference: String(idOf(i + 1)),
    }),
  )
  return lines.join('\n')
}
