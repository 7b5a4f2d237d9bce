import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { tap } from '../testing/run.ts'
import { runTarget } from '../testing/run-destination.ts'
import { selecting } from '../testing/singer-messages.ts'

const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
const start = () => startEmulator({ people: 12, months: 0, clients })

let emulator: Emulator
let config: Record<string, unknown>
beforeEach(async () => {
  emulator = await start()
  config = emulator.config()
})
afterEach(() => emulator.close())

const STREAM = 'external_references'
const state = (value: object) => ({ type: 'STATE', value })
const reference = (value: string, id: unknown, more: object = {}) => ({
  type: 'RECORD',
  stream: STREAM,
  record: { collection: 'people', name: 'hr', value, internalReference: id, ...more },
})
const values = (of = emulator) =>
  of
    .references('people')
    .filter(({ referenceName }) => referenceName === 'hr')
    .map(({ externalReference, internalReference }) => [externalReference, internalReference])
    .toSorted()

describe('target-protime', () => {
  it('writes the records, and then prints the value of the last state', async () => {
    emulator.setReference('people', 'hr', 'gone', 3)
    const input = [
      { type: 'SCHEMA', stream: STREAM, schema: {}, key_properties: [] },
      reference('anna', 1),
      reference('gone', 3, { _sdc_deleted_at: '2026-01-01T00:00:00Z' }),
      reference('carl', '12a'),
      state({ bookmarks: { at: 1 } }),
    ]
    const { exitCode, stdout, stderr } = await runTarget({ ...config, max_rejected: 1 }, input)
    expect([exitCode, stdout]).toEqual([0, '{"bookmarks":{"at":1}}\n'])
    expect(values()).toEqual([['anna', '1']])
    expect(stderr).toMatch(/^WARNING external_references: record 3 was rejected: /)
    expect(stderr).not.toContain('carl')
  })

  it('prints no state that covers a record beyond max_rejected, so that it is sent again', async () => {
    const { exitCode, stdout, stderr } = await runTarget(config, [
      reference('anna', 1),
      state({ at: 1 }),
      reference('bert', 99_999),
      state({ at: 2 }),
    ])
    expect([exitCode, stdout]).toEqual([1, '{"at":1}\n'])
    expect(stderr).toMatch(
      /record 2 was rejected: collection people, name hr, internalReference 99999: /,
    )
    expect(stderr).toMatch(/ERROR 1 record was rejected, and max_rejected allows 0\./)
  })

  it('rejects a line that is not UTF-8, and passes on everything before it', async () => {
    const lines = [
      reference('anna', 1),
      state({ at: 1 }),
      reference('M\u00e4', 2),
      state({ at: 2 }),
    ]
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), 'latin1')
    const { exitCode, stdout, stderr } = await runTarget(config, bytes)
    expect([exitCode, stdout, values()]).toEqual([1, '{"at":1}\n', [['anna', '1']]])
    expect(stderr).toContain('Line 3 of the input is not UTF-8')
  })

  it('rejects a record with a repeated member, and refuses a message with one', async () => {
    const twice = '"internalReference":2,"internalReference":'
    const lines = [
      JSON.stringify(reference('anna', 1)).replace('"internalReference":', twice),
      JSON.stringify(reference('bert', 3)),
      JSON.stringify(reference('carl', 4)).replace('{', '{"type":"STATE",'),
    ]
    const { exitCode, stderr } = await runTarget(config, Buffer.from(lines.join('\n')))
    expect([exitCode, values()]).toEqual([1, [['bert', '3']]])
    expect(stderr).toContain(
      'record 1 was rejected: Duplicate key internalReference: it is not clear',
    )
    expect(stderr).toContain('Line 3 of the input has the duplicate key type')
  })

  it('requests the scopes of the records that come, and no others', async () => {
    const asked: (string | null)[] = []
    emulator.respond('/connect/token', ({ body }) => {
      asked.push(new URLSearchParams(body).get('scope'))
      return undefined
    })
    await runTarget(config, [reference('anna', 1)])
    const scope = 'connector-protimeapi-external-references'
    expect(asked).toEqual([`${scope}.write ${scope}.read`])
  })

  it('makes another tenant equal to the one that the tap reads, deletes included', async () => {
    const from = await start()
    try {
      for (let id = 1; id <= 10; id++) from.setReference('people', 'hr', `p${id}`, id)
      const catalog = selecting([STREAM])
      const first = await tap({ in: 'process', config: from.config(), catalog })
      const mirror = { ...config, mirror: true }
      const { exitCode, stdout } = await runTarget(mirror, first.messages)
      expect([exitCode, values()]).toEqual([0, values(from)])
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual(first.state)
      from.removeReference('people', 'hr', 'p4')
      const next = await tap({ in: 'process', config: from.config(), catalog, state: first.state })
      await runTarget(mirror, next.messages)
      expect(values()).toEqual(values(from))
      expect(values()).toHaveLength(9)
    } finally {
      await from.close()
    }
  })

  it('names a missing setting', async () => {
    const { exitCode, stderr } = await runTarget({ ...config, tenant: undefined }, [])
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^ERROR .*tenant is missing\. \(config\) \[configuration-not-valid\]\n$/,
      ),
    ])
  })
})
