import { afterEach, describe, expect, it } from 'vitest'
import { withoutTimes } from '../testing/output.ts'
import { openTenant, type WritableTenant } from './tenant.ts'

let tenant: WritableTenant
afterEach(() => tenant.close())

const hr = (value: string, id: string | number, more: object = {}) => ({
  collection: 'people',
  name: 'hr',
  value,
  internalReference: id,
  ...more,
})
const SECOND_VALUES = ['replaces', 'conflict'] as const

describe('references', () => {
  it('are put unless they already exist', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'E1', 1)
    const { exitCode, outcomes } = await tenant.write('external_references', [
      hr('E1', 1),
      hr('E2', '2'),
      hr('E3', 3),
    ])
    expect([exitCode, outcomes]).toEqual([0, ['skipped', 'written', 'written']])
    expect(tenant.requested('PUT')).toHaveLength(2)
    expect(tenant.links('people', 'hr')).toEqual({ E1: '1', E2: '2', E3: '3' })
  })

  it.each([
    ['replaces', []],
    ['conflict', ['PUT old', 'DELETE old', 'PUT new']],
  ] as const)(
    'are relinked by DELETE and PUT after a PUT is refused and the old link accepted, if a second value %s',
    async (secondValue, atConflict) => {
      tenant = await openTenant({ secondValue })
      tenant.emulator.setReference('people', 'hr', 'moved', 1)
      tenant.emulator.setReference('people', 'hr', 'old', 3)
      const { lines } = await tenant.write('external_references', [hr('moved', 2), hr('new', 3)])
      expect(lines).toMatchObject([
        { outcome: 'written', relinked: true },
        { outcome: 'written', relinked: true },
      ])
      const requested = tenant.requested('PUT', 'DELETE')
      const relinks = requested.map((one) => one.replace('/external-references/people/hr/', ''))
      expect(relinks.filter((one) => one.endsWith('moved'))).toEqual([
        ...['PUT moved', 'PUT moved'],
        ...['DELETE moved', 'PUT moved'],
      ])
      expect(relinks.filter((one) => !one.endsWith('moved'))).toEqual(['PUT new', ...atConflict])
      expect(tenant.links('people', 'hr')).toEqual({ moved: '2', new: '3' })
    },
  )

  it.each(SECOND_VALUES)(
    'are not changed with relink off if a second value %s',
    async (secondValue) => {
      tenant = await openTenant({ secondValue })
      tenant.emulator.setReference('people', 'hr', 'taken', 1)
      tenant.emulator.setReference('people', 'hr', 'old', 3)
      const { exitCode, lines } = await tenant.write(
        'external_references',
        [hr('taken', 2), hr('new', 3), hr('free', 4)],
        { relink: false },
        '--show-values',
      )
      expect([exitCode, lines]).toMatchObject([
        1,
        [
          { outcome: 'rejected', status: 400, reason: expect.stringMatching(/is linked to 1/) },
          { outcome: 'rejected', reason: expect.stringMatching(/relink is off/) },
          { outcome: 'written' },
        ],
      ])
      expect(tenant.links('people', 'hr')).toEqual({ taken: '1', old: '3', free: '4' })
    },
  )

  it.each([
    ['keeps', true, ['PUT', 'DELETE', 'PUT'], { outcome: 'written', relinked: true }, { A1: '3' }],
    ['keeps', false, [], { outcome: 'rejected', status: 400 }, { A1: '2' }],
    ['frees', true, [], { outcome: 'written' }, { A1: '3' }],
    ['frees', false, [], { outcome: 'written' }, { A1: '3' }],
  ] as const)(
    'whose value a deleted record %s: with relink %s, the PUT is followed by %j',
    async (deletedRecord, relink, more, line, links) => {
      tenant = await openTenant({ deletedRecord })
      tenant.emulator.setReference('people', 'hr', 'A1', 2)
      tenant.emulator.remove('people', 2)
      const { lines } = await tenant.write('external_references', [hr('A1', 3)], { relink })
      expect(lines).toMatchObject([line])
      const methods = tenant.requested('PUT', 'DELETE').map((one) => one.split(' ')[0])
      expect([methods, tenant.links('people', 'hr')]).toEqual([['PUT', ...more], links])
    },
  )

  // spec: External reference management: PUT
  it.each([
    ['are not deleted where that is said by 404', 'not-found', 404, 0],
    ['come back where that is said by 400', 'not-valid', 400, 1],
  ] as const)(
    'that are to name a record that is not there %s',
    async (_, unknownRecord, status, deletes) => {
      tenant = await openTenant({ unknownRecord })
      tenant.emulator.setReference('people', 'hr', 'A', 1)
      const { lines } = await tenant.write('external_references', [hr('A', 99999)])
      expect(lines).toMatchObject([{ outcome: 'rejected', status }])
      expect(tenant.requested('DELETE')).toHaveLength(deletes)
      expect(tenant.links('people', 'hr')).toEqual({ A: '1' })
    },
  )

  it('are deleted by marked records, and reported as absent if they do not exist', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    const marked = (value: string) => ({ collection: 'people', name: 'hr', value, _deleted: true })
    const { exitCode, outcomes } = await tenant.write('external_references', [
      marked('A'),
      marked('B'),
    ])
    expect([exitCode, outcomes, tenant.links('people', 'hr')]).toEqual([
      0,
      ['deleted', 'absent'],
      {},
    ])
  })

  // spec: Errors: 400 external reference management
  it.each([
    ['a predefined name', hr('E', 1, { name: '@badge-number' }), /predefined/],
    ['an id with a letter', hr('E', '12a'), /whole number/],
    ['an id with leading zeros', hr('E', '007'), /whole number/],
    ['a GUID for people', hr('E', '3f0b7c52-1d7e-4a55-9f0e-0c5a61d2b701'), /whole number/],
    ['an id that is no whole number', hr('E', 1.5), /neither a text nor a whole number/],
    [
      'an id of which a number would lose digits',
      JSON.stringify(hr('E', 4)).replace('4}', '4.0000000000000000001}'),
      /whole number/,
    ],
    ['a value that nobody can see', hr(' \u200b', 1), /no value/],
    ['an empty value', hr('', 1), /no value/],
    ['no id', { collection: 'people', name: 'hr', value: 'E' }, /no internalReference/],
    ['a URL that is too long', hr('é'.repeat(700), 2), /4096/],
    ['an unpaired surrogate', hr('a\ud800', 1), /Unicode/],
    ['no JSON', '{"collection":', /not a JSON object/],
    ['blanks alone as its value', hr('  ', 1), /no value/],
  ])('with %s are rejected without a request', async (_, record, reason) => {
    tenant = await openTenant()
    const { exitCode, lines } = await tenant.write('external_references', [record, hr('ok', 1)])
    expect([exitCode, lines]).toMatchObject([
      1,
      [{ outcome: 'rejected', reason: expect.stringMatching(reason) }, { outcome: 'written' }],
    ])
    expect(tenant.requested('PUT')).toEqual(['PUT /external-references/people/hr/ok'])
  })

  it('are not arrays: a line with one is rejected', async () => {
    tenant = await openTenant()
    const { outcomes } = await tenant.write('external_references', [hr('ok', 1), '[]'])
    expect(outcomes).toEqual(['written', 'rejected'])
  })

  it('of an unknown collection are rejected by the service', async () => {
    tenant = await openTenant()
    const record = hr('E', 1, { collection: 'planets' })
    const { lines } = await tenant.write('external_references', [record])
    expect(lines).toMatchObject([{ outcome: 'rejected', status: 400 }])
  })

  it.each(['a/b', '?', '#', '%41', 'a b', 'é', '..', '+', '"'])(
    'have the value %j carried exactly',
    async (value) => {
      tenant = await openTenant()
      await tenant.write('external_references', [hr(value, 1)])
      expect(tenant.links('people', 'hr')).toEqual({ [value]: '1' })
      const again = await tenant.write('external_references', [hr(value, 1)])
      const gone = await tenant.write('external_references', [hr(value, 1, { _deleted: true })])
      expect([again.outcomes, gone.outcomes]).toEqual([['skipped'], ['deleted']])
    },
  )

  it('count with the last one of a key', async () => {
    tenant = await openTenant()
    const { lines } = await tenant.write('external_references', [
      hr('A', 1),
      hr('A', 2),
      hr('B', 2),
    ])
    expect(lines.map(({ outcome, reason }) => reason ?? outcome)).toEqual([
      expect.stringMatching(/later record/),
      expect.stringMatching(/later record/),
      'written',
    ])
    expect(tenant.links('people', 'hr')).toEqual({ B: '2' })
  })

  it('are printed without values, unless these are requested', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'E-SECRET', 1)
    const records = [hr('E-SECRET', 2), hr('E-SECRET', '12a')]
    const quiet = await tenant.write('external_references', records, { relink: false })
    expect(quiet.stdout + quiet.stderr).not.toContain('E-SECRET')
    const { lines } = await tenant.write('external_references', records, {}, '--show-values')
    expect(lines[0]).toMatchObject({ key: { value: 'E-SECRET' } })
  })
})

describe('the mirror', () => {
  const open = async (count = 40) => {
    tenant = await openTenant({ people: count })
    for (let id = 1; id <= count; id++) tenant.emulator.setReference('people', 'hr', `E${id}`, id)
    tenant.emulator.setReference('people', 'other', 'P1', 1)
  }
  const first = (count: number, valueFor = (id: number) => `E${id}`) =>
    Array.from({ length: count }, (_, i) => hr(valueFor(i + 1), i + 1))
  const mirror = (records: readonly (object | string)[], ...words: string[]) =>
    tenant.write('external_references', records, {}, '--mirror', ...words)
  const left = () => Object.keys(tenant.links('people', 'hr'))

  it('deletes references that are missing from complete input, under the names in it', async () => {
    await open()
    const { exitCode, lines } = await mirror(first(32))
    expect([exitCode, lines.at(-1)]).toMatchObject([0, { outcome: 'deleted' }])
    expect(left()).toHaveLength(32)
    expect(tenant.links('people', 'other')).toEqual({ P1: '1' })
  })

  it('deletes a handful, however few there are', async () => {
    await open(6)
    expect((await mirror(first(1))).exitCode).toBe(0)
    expect(left()).toEqual(['E1'])
  })

  it.each<[string, () => (object | string)[], RegExp]>([
    ['that is more than a fifth', () => first(31), /9 of 40 references .* \(23 %\)/],
    [
      'that is, with what records delete and relink, more than a fifth',
      () => [
        ...first(31),
        ...[32, 33, 34, 35].map((id) => hr(`E${id}`, id, { _deleted: true })),
        ...[36, 37, 38].map((id) => hr(`N${id}`, id)),
      ],
      /9 of 40 references/,
    ],
    ['a line cannot be read', () => [...first(39), 'x'], /could not be read/],
    [
      'a mark is not clear',
      () => [...first(39), hr('E40', 40, { _deleted: 'no' })],
      /could not be read/,
    ],
    ['a key cannot be one', () => [...first(39), hr('E', 1, { name: '@x' })], /could not be read/],
  ])('deletes nothing when %s', async (_, records, message) => {
    await open()
    const { exitCode, stderr } = await mirror(records())
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)])
    expect(left()).toContain('E40')
  })

  it.each<[string, (id: number) => string]>([
    ['with another column as the value', (id) => `other ${id}`],
    ['whose column is shifted by one row', (id) => `E${(id % 40) + 1}`],
  ])('changes no link for input %s', async (_, valueFor) => {
    await open()
    const { exitCode, stderr, lines } = await mirror(first(40, valueFor))
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/40 of 40 references .* \(100 %\)/),
    ])
    expect(new Set(lines.map(({ outcome }) => outcome))).toEqual(new Set(['rejected']))
    expect(tenant.requested('PUT', 'DELETE')).toEqual([])
  })

  it('keeps values that have trailing blanks in the input, as fixed-width columns have', async () => {
    await open()
    const { exitCode, outcomes } = await mirror(first(40, (id) => `E${id}   `))
    expect([exitCode, new Set(outcomes)]).toEqual([0, new Set(['skipped'])])
  })

  it.each([
    ['10', 30, 0, 30],
    ['9', 30, 2, 40],
    ['25%', 30, 0, 30],
    ['0', 39, 2, 40],
    ['0%', 39, 2, 40],
    ['100%', 1, 0, 1],
  ])('with --max-deletes %s of 40 keeps %s: exit %s', async (most, kept, exitCode, remaining) => {
    await open()
    const ended = await mirror(first(kept), '--max-deletes', most)
    expect([ended.exitCode, left().length]).toEqual([exitCode, remaining])
  })

  it.each(['x', '-1', '20 %', '1.5'])('refuses --max-deletes %s', async (most) => {
    await open()
    const { exitCode, stderr } = await mirror(first(40), `--max-deletes=${most}`)
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/max_deletes/)])
  })

  it('lists in a dry run what would be deleted, and whether that is too much', async () => {
    await open()
    const { exitCode, lines, stderr } = await mirror(first(20), '--dry-run')
    expect(exitCode).toBe(2)
    expect(lines.filter(({ outcome }) => outcome === 'deleted')).toHaveLength(20)
    expect(stderr).toMatch(/20 of 40 references/)
    expect(tenant.requested('PUT', 'DELETE')).toEqual([])
  })

  it('needs the option: the setting for the destination deletes nothing here, and causes a message', async () => {
    await open()
    const { exitCode, stderr } = await tenant.write('external_references', first(39), {
      mirror: true,
    })
    expect([exitCode, stderr, left().length]).toEqual([
      0,
      expect.stringMatching(/WARN The setting mirror is for the destination/),
      40,
    ])
  })

  it('is refused if the list of references answers 404, but records that delete are carried out', async () => {
    await open()
    tenant.emulator.fail(/external-references\/people\/hr$/, 404, { method: 'GET' })
    const { exitCode, outcomes, stderr } = await mirror([
      ...first(2),
      hr('E3', 3, { _deleted: true }),
      hr('E4', 5),
    ])
    expect([exitCode, outcomes, stderr]).toEqual([
      2,
      ['written', 'written', 'deleted', 'rejected'],
      expect.stringMatching(/list of references of people, hr cannot be read/),
    ])
    expect(left()).toHaveLength(39)
  })
})

describe('a summary', () => {
  it('reports values that are taken from another record, and records that a later one replaces', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    const { lines, stderr } = await tenant.write('external_references', [
      hr('A', 2),
      hr('B', 3),
      hr('B', 4),
    ])
    expect(lines).toMatchObject([
      { outcome: 'written', relinked: true, takenFrom: '1' },
      { outcome: 'skipped', replaced: true },
      { outcome: 'written' },
    ])
    expect(withoutTimes(stderr).split('\n').slice(0, 3)).toEqual([
      'INFO external_references: 2 written, 1 skipped; of these 1 relinked, 1 replaced within the input.',
      'WARN 1 value is taken from another record; takenFrom in its outcome is the id of that record. [values-taken]',
      expect.stringMatching(/^WARN 1 record of the input does not count: a later one/),
    ])
  })
})
