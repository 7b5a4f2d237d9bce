import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { coverageRows, faultsOf } from './coverage.ts'

const rows = coverageRows(readFileSync('docs/coverage.md', 'utf8'))
const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name} ${i + 1}`)

/** What the specification numbers or lists in a table, in its order; the rest of its rows are prose. */
const EXPECTED = [
  ...numbered('External references', 5),
  'States: Enabled, delivery failure',
  'States: Enabled or Disabled, DELETE',
  'States: any, reaching validUntil',
  'Endpoints: POST {auth_url}/connect/token',
  'Endpoints: GET {auth_url}/.well-known/openid-configuration',
  'Endpoints: PUT /external-references/{collectionName}/{referenceName}/{externalReference}',
  'Endpoints: DELETE /external-references/{collectionName}/{referenceName}/{externalReference}',
  'Endpoints: GET /external-references/{collectionName}',
  'Endpoints: GET /external-references/{collectionName}/{referenceName}',
  'Endpoints: GET /external-references/{collectionName}/{referenceName}/{externalReference}',
  'Endpoints: PUT /job-categories/{jobCategoryReference}',
  'Endpoints: GET /job-categories/{jobCategoryReference}',
  'Endpoints: POST /work-locations',
  'Endpoints: GET /work-locations',
  'Endpoints: GET /access-clockings/{id}',
  'Endpoints: GET /access-clockings?delta',
  'Endpoints: GET /departments/{departmentReference}',
  'Endpoints: GET /departments?delta',
  'Endpoints: GET /employers',
  'Endpoints: GET /employers?delta',
  'Endpoints: GET /jobs?delta',
  'Endpoints: GET /shift-definitions',
  'Endpoints: GET /shift-definitions?delta',
  'Endpoints: POST /webhooks',
  'Endpoints: GET /webhooks',
  'Endpoints: GET /webhooks/{id}',
  'Endpoints: DELETE /webhooks/{id}',
  ...numbered('Addressing', 5),
  ...numbered('Delta mode', 4),
  ...numbered('Authentication', 9),
  ...numbered('Events', 10),
  'Errors: 400 token endpoint, invalid_scope',
  'Errors: 400 token endpoint, invalid_client',
  'Errors: 400 filter',
  'Errors: 400 unsupported query parameter',
  'Errors: 400 external reference specification',
  'Errors: 400 validation on write',
  'Errors: 400 external reference management',
  'Errors: 401',
  'Errors: 403',
  'Errors: 404',
  'Errors: 410',
  'Errors: 414',
  'Limits: URL length',
  'Limits: delta token age',
  'Limits: access-clocking delta start date',
  'Limits: access-clocking delta range',
  'Limits: externalCode of a job category',
  'Limits: webhook retry window',
  'Limits: token lifetime',
  ...numbered('Versioning', 4),
]

describe('the coverage of the specification', () => {
  it('has a row for everything that the specification numbers or tabulates, in its order', () => {
    const ids = rows.map(({ id }) => id)
    expect(ids.filter((id) => EXPECTED.includes(id))).toEqual(EXPECTED)
  })

  it('has each row once', () => {
    const ids = rows.map(({ id }) => id)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })

  it('names files and tests that exist, or says why not yet', () => {
    expect(rows.flatMap((row) => faultsOf(row, read))).toEqual([])
  })
})

describe('a row of the coverage', () => {
  const files: Record<string, string> = {
    'a.ts': '',
    'a.test.ts':
      "describe('a', () => {\n  it('b', f)\n  it.each([\n])('c %s', f)\n  call('d', f)})",
  }
  const faults = (implementedIn: string, shownBy: string) =>
    faultsOf({ id: 'X 1', implementedIn, shownBy }, (path) => files[path])

  it.each([
    ['`a.ts`', '`a.test.ts` > `a > b`'],
    ['emulator only: `a.ts`', '`a.test.ts` > `b`; `a.test.ts` > `a > c %s`'],
    ['not yet: nobody needs it', ''],
  ])('may be %s and %s', (implementedIn, shownBy) => {
    expect(faults(implementedIn, shownBy)).toEqual([])
  })

  it.each([
    ['', '`a.test.ts` > `b`', 'names no file'],
    ['`gone.ts`', '`a.test.ts` > `b`', 'no file gone.ts'],
    ['`a.ts`', '', 'names no test'],
    ['`a.ts`', '`a.test.ts`', 'names no test'],
    ['`a.ts`', '`gone.test.ts` > `b`', 'no file gone.test.ts'],
    ['`a.ts`', '`a.test.ts` > `a > gone`', 'no test "a > gone" in a.test.ts'],
    ['`a.ts`', '`a.test.ts` > `d`', 'no test "d" in a.test.ts'],
    ['not yet', '', 'needs a reason'],
    ['not yet: no', '', 'needs a reason'],
    ['not yet: nobody needs it', '`a.test.ts` > `b`', 'and no test'],
  ])('is wrong as %s and %s', (implementedIn, shownBy, words) => {
    expect(faults(implementedIn, shownBy)).toEqual([expect.stringContaining(words)])
  })

  it('is read from a table, whose head is none', () => {
    const table =
      '| Id | Rule | Implemented in | Shown by |\n|---|---|---|---|\n| X 1 | r | f | t |'
    expect(coverageRows(table)).toEqual([{ id: 'X 1', implementedIn: 'f', shownBy: 't' }])
  })
})
