import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../testing/files.ts'
import { openTenant, type WritableTenant } from './tenant.ts'

let tenant: WritableTenant
afterEach(() => tenant.close())

const hr = (value: string, id: unknown, more: object = {}) => ({
  collection: 'people',
  name: 'hr',
  value,
  internalReference: id,
  ...more,
})

/** A folder that goes with its test. */
function temporary(): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  return path
}

/** `protime write` for a file of these bytes. */
function writeBytes(bytes: Uint8Array, ...words: string[]) {
  return writeTable('external_references', bytes, ...words)
}

function writeTable(object: string, content: Uint8Array | string, ...words: string[]) {
  const file = join(temporary(), 'input')
  writeFileSync(file, content)
  return tenant.write(object, [], {}, '--from', file, ...words)
}

const latin1 = (lines: readonly object[]) =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), 'latin1')

describe('a mark of deletion', () => {
  it.each([
    ['_sdc_deleted_at', '', 'skipped'],
    ['_ab_cdc_deleted_at', false, 'skipped'],
    ['_deleted', 0, 'skipped'],
    ['_deleted', 1, 'deleted'],
    ['_deleted', 'true', 'deleted'],
    ['_ab_cdc_deleted_at', '2026-01-01T00:00:00Z', 'deleted'],
    ['_deleted', 'no', 'rejected'],
  ])('%s of %j: the reference is %s', async (mark, value, outcome) => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    const { outcomes } = await tenant.write('external_references', [hr('A', 1, { [mark]: value })])
    expect(outcomes).toEqual([outcome])
    expect(Object.keys(tenant.links('people', 'hr'))).toEqual(outcome === 'deleted' ? [] : ['A'])
  })
})

describe('bytes that are not UTF-8', () => {
  it('reject their line, and the others are written', async () => {
    tenant = await openTenant()
    const { exitCode, lines } = await writeBytes(latin1([hr('Mä', 1), hr('Mo', 2), hr('Mö', 3)]))
    expect([exitCode, lines]).toMatchObject([
      1,
      [
        { outcome: 'rejected', reason: expect.stringContaining('not UTF-8') },
        { outcome: 'written' },
        { outcome: 'rejected' },
      ],
    ])
    expect(tenant.links('people', 'hr')).toEqual({ Mo: '2' })
  })

  it('keep a mirror from deleting anything', async () => {
    tenant = await openTenant({ people: 20 })
    for (let id = 1; id <= 20; id++) tenant.emulator.setReference('people', 'hr', `Mä${id}`, id)
    const lines = Array.from({ length: 20 }, (_, i) => hr(i < 2 ? `Mä${i + 1}` : 'x', i + 1))
    const { exitCode, stderr } = await writeBytes(latin1(lines.slice(0, 2)), '--mirror')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('could not be read')])
    expect(tenant.requested('PUT', 'DELETE')).toEqual([])
  })
})

describe('a CSV table', () => {
  it('has a header, and fields in quotes; an empty field is left out', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'gone', 3)
    const text = [
      '\ufeffcollection,name,value,INTERNAL_REFERENCE,_deleted',
      'people,hr,"a ""b"", c",1,',
      'people,hr,"two\n\nlines",2,false',
      'people,hr,gone,,true',
      'people,hr,"open',
    ].join('\r\n')
    const { exitCode, lines } = await writeBytes(Buffer.from(text))
    expect([exitCode, lines.map(({ line, outcome }) => [line, outcome])]).toEqual([
      1,
      [
        [2, 'written'],
        [3, 'written'],
        [6, 'deleted'],
        [7, 'rejected'],
      ],
    ])
    expect(tenant.links('people', 'hr')).toEqual({ 'a "b", c': '1', 'two\n\nlines': '2' })
  })

  it('has members within objects as columns with dots', async () => {
    tenant = await openTenant()
    const { lines } = await tenant.write('job_categories', [
      'id,name.default,name.translations.nl,externalCode',
      '1,Bakers,Bakkers,',
      '2,too,many,fields,here',
    ])
    expect(lines).toMatchObject([
      { outcome: 'written' },
      { outcome: 'rejected', reason: 'The record has 5 fields, and the header 4.' },
    ])
    expect(tenant.emulator.all('job-categories')[0]).toMatchObject({
      name: { default: 'Bakers', translations: { nl: 'Bakkers' } },
    })
  })

  it('with a quote that is never closed is rejected line by line from there, however long it is', async () => {
    tenant = await openTenant()
    const rows = Array.from({ length: 100_000 }, (_, i) => `people,hr,E-${i},1`)
    const text = ['collection,name,value,internalReference', 'people,hr,"open,1', ...rows]
    const { exitCode, lines } = await tenant.write('external_references', text, { max_rejected: 1 })
    expect([exitCode, lines.length]).toEqual([1, 100_001])
    expect(lines.at(-1)).toMatchObject({ line: 100_002, outcome: 'rejected' })
  })

  it('with a field of many lines is read as it is', async () => {
    tenant = await openTenant()
    const text = `id,name\n1,"${'x ""y""\n'.repeat(100_000)}"`
    const { lines } = await writeTable('job_categories', text, '--dry-run')
    expect(lines).toMatchObject([{ line: 2, outcome: 'written' }])
  })

  it('keeps the blank lines of a field as they are', async () => {
    tenant = await openTenant()
    const note = 'one\r\n\r\ntwo\n  \t\nthree'
    await writeTable('job_categories', `id,name\r\n1,"${note}"\r\n`)
    expect(tenant.emulator.all('job-categories')[0]).toMatchObject({ name: { default: note } })
  })

  it.each([
    ['id,externalCode,externalCode', 'the column externalCode twice'],
    ['id,name,name.translations.nl', 'the column name, and name.translations.nl within it'],
  ])('with the header %s is refused, because a value would be lost', async (header, reason) => {
    tenant = await openTenant()
    const { exitCode, stderr } = await tenant.write('job_categories', [header, '1,North,South'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)])
  })
})

describe('input that is neither lines of JSON nor CSV', () => {
  it.each([
    ['a table without a header', 'people,hr,A,1'],
    ['a table with semicolons', 'collection;name;value\npeople;hr;A'],
    ['a JSON array', '[{"collection":"people"}]'],
    ['an object over several lines', '{\n"collection":"people"}'],
  ])('such as %s ends with one sentence', async (_, text) => {
    tenant = await openTenant()
    const { exitCode, stderr, stdout } = await writeBytes(Buffer.from(text))
    const reason = /neither with a JSON object on one line nor with the header of a CSV table/
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringMatching(reason)])
    expect(tenant.requested('GET', 'PUT')).toEqual([])
  })

  it('such as a folder leads to one sentence', async () => {
    tenant = await openTenant()
    const folder = temporaryFolder()
    onTestFinished(folder.remove)
    const { exitCode, stderr } = await tenant.write(
      'external_references',
      [],
      {},
      '--from',
      folder.path,
    )
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/--from names a folder/)])
  })
})

describe('a member', () => {
  it.each([
    [
      '{"collection":"people","name":"hr","value":"A","internalReference":1,"_deleted":true,"_deleted":false}',
      '_deleted',
    ],
    [
      '{"collection":"people","name":"hr","value":"A","internalReference":1,"more":{"x":1,"x":2}}',
      'more.x',
    ],
  ])('that comes twice rejects its record: %s', async (line, name) => {
    tenant = await openTenant()
    const reason = `Duplicate key ${name}: it is not clear which value counts.`
    const { lines } = await tenant.write('external_references', [line, hr('B', 2)])
    expect(lines).toMatchObject([{ outcome: 'rejected', reason }, { outcome: 'written' }])
    expect(tenant.links('people', 'hr')).toEqual({ B: '2' })
  })

  it('that is repeated in the configuration ends the command', async () => {
    tenant = await openTenant()
    const config = JSON.stringify(tenant.emulator.config()).replace(
      '{',
      '{"dry_run":true,"dry_run":false,',
    )
    const file = join(temporary(), 'config.json')
    writeFileSync(file, config)
    const words = ['--config', file]
    const { exitCode, stderr } = await tenant.write(
      'external_references',
      [hr('B', 2)],
      {},
      ...words,
    )
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('has the duplicate key dry_run'),
    ])
    expect(tenant.requested('PUT')).toEqual([])
  })

  it('that is unknown rejects its record, with the name that was probably meant', async () => {
    tenant = await openTenant()
    const { lines } = await tenant.write('job_categories', [
      { id: 1, nmae: 'Bakers' },
      { id: 2, externalCode: 'X', valid_from: '2026-01-01' },
      { id: 3, externalCode: 'X', changeVersion: '1', _airbyte_raw_id: 'a', collection: 'x' },
      { id: 4, name: { Default: 'Bakers', nl: 'Bakkers' } },
    ])
    expect(lines).toMatchObject([
      { outcome: 'rejected', reason: 'No object has nmae (did you mean name?).' },
      { outcome: 'rejected', reason: 'No object has valid_from.' },
      { outcome: 'written' },
      { reason: 'No object has name.Default (did you mean name.default?) or name.nl.' },
    ])
  })

  it('_id is the key of a table, not the id', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('job-categories', 'erp', 'BAKER', 2)
    const record = { _id: 3, externalReferences: { erp: 'BAKER' }, externalCode: 'NEW' }
    await tenant.write('job_categories', [record])
    expect(tenant.requested('PUT')).toEqual(['PUT /job-categories/2'])
  })

  it('that two columns have with different values rejects its record', async () => {
    tenant = await openTenant()
    const { lines } = await tenant.write('external_references', [
      { collection: 'people', name: 'hr', value: 'A', internal_reference: 1, INTERNALREFERENCE: 2 },
      { collection: 'people', name: 'hr', value: 'B', INTERNAL_REFERENCE: 3 },
    ])
    expect(lines).toMatchObject([
      { outcome: 'rejected', reason: expect.stringContaining('both mean internalReference') },
      { outcome: 'written' },
    ])
  })

  it('collection that is mistyped rejects its record before a request', async () => {
    tenant = await openTenant()
    const { lines } = await tenant.write('external_references', [
      hr('A', 1, { collection: 'peeple' }),
    ])
    expect(lines).toMatchObject(
      [{ outcome: 'rejected', reason: /did you mean people\?/ }].map(({ outcome, reason }) => ({
        outcome,
        reason: expect.stringMatching(reason),
      })),
    )
    expect(tenant.requested('GET', 'PUT')).toEqual([])
  })
})

describe('an id and a reference', () => {
  it('that name different job categories reject the record', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('job-categories', 'erp', 'BAKER', 2)
    const { lines } = await tenant.write('job_categories', [
      { id: 3, externalReferences: { erp: 'BAKER' }, externalCode: 'NEW' },
      { id: 2, externalReferences: { erp: 'BAKER' }, externalCode: 'NEW' },
      { id: 4, externalReferences: { erp: 'COOK' }, externalCode: 'NEW' },
    ])
    expect(lines).toMatchObject([
      { outcome: 'rejected', reason: expect.stringContaining('identify different job categories') },
      { outcome: 'written' },
      { outcome: 'written' },
    ])
    expect(tenant.requested('PUT')).toEqual(['PUT /job-categories/2', 'PUT /job-categories/4'])
  })

  it('that name different work locations reject the record', async () => {
    tenant = await openTenant()
    const [first, second] = tenant.emulator.all('work-locations') as { id: number; name: object }[]
    tenant.emulator.setReference('work-locations', 'erp', 'N1', second?.id ?? 0)
    const { lines } = await tenant.write('work_locations', [
      { id: first?.id, name: first?.name, externalReferences: { erp: 'N1' } },
      { id: second?.id, name: second?.name, externalReferences: { erp: 'N1' } },
    ])
    expect(lines).toMatchObject([
      { outcome: 'rejected', ids: [String(first?.id), String(second?.id)] },
      { outcome: 'skipped' },
    ])
  })
})

it.each(['1', '001'])(
  'the reference %j is not taken for the id of another job category, which stays as it is',
  async (value) => {
    tenant = await openTenant({ integerReference: 'id' })
    tenant.emulator.setReference('job-categories', 'erp', value, 2)
    const before = tenant.emulator.all('job-categories')
    const { outcomes } = await tenant.write('job_categories', [
      { externalReferences: { erp: value }, externalCode: 'NEW' },
    ])
    expect([outcomes, tenant.requested('PUT')]).toEqual([['rejected'], []])
    expect(tenant.emulator.all('job-categories')).toEqual(before)
  },
)

describe('blanks at both ends, and another Unicode form,', () => {
  it.each([
    ['a value with a blank behind', 'E1 ', 'E1'],
    ['a value in another form', 'Me\u0301', 'M\u00e9'],
  ])('make no other reference of %s', async (_, given, stored) => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', stored, 1)
    const { outcomes } = await tenant.write('external_references', [hr(given, 1)])
    expect(outcomes).toEqual(['skipped'])
    const moved = await tenant.write('external_references', [hr(given, 2)], {}, '--mirror')
    expect([moved.outcomes, tenant.links('people', 'hr')]).toEqual([['written'], { [stored]: '2' }])
  })

  it('change no job category', async () => {
    tenant = await openTenant()
    tenant.emulator.update('job-categories', 1, { externalCode: 'A1' })
    const { outcomes } = await tenant.write('job_categories', [{ id: 1, externalCode: 'A1 ' }])
    expect([outcomes, tenant.requested('PUT')]).toEqual([['skipped'], []])
  })

  it('create no second work location', async () => {
    tenant = await openTenant()
    tenant.emulator.insert('work-locations', { name: { default: 'Nord\u00e9' } })
    const record = { externalReferences: { erp: 'N1' }, name: 'Norde\u0301 ' }
    const first = await tenant.write('work_locations', [record])
    const second = await tenant.write('work_locations', [record])
    expect([first.outcomes, second.outcomes]).toEqual([['adopted'], ['skipped']])
    expect(tenant.requested('POST')).toEqual([])
  })
})
