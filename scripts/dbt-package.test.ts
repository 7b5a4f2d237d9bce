import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { columnsName } from '../src/rows/checksums.ts'
import { keyOf, streams } from '../src/streams/streams.ts'
import { dbtFiles } from './dbt-package.ts'

const STAGING = 'dbt/models/staging'

interface Model {
  readonly name: string
  readonly data_tests: readonly Readonly<Record<string, { readonly arguments: object }>>[]
  readonly columns: readonly {
    readonly name: string
    readonly description: string
    readonly config?: { readonly meta: Readonly<Record<string, unknown>> }
  }[]
}

const { models } = parse(dbtFiles().get(`${STAGING}/staging.yml`) ?? '') as {
  models: readonly Model[]
}
const clockings = models.find(({ name }) => name === 'stg_protime__clockings')

describe('the staging layer of the dbt package', () => {
  it('is generated from the schemas (npm run docs), without further models', () => {
    const files = [...dbtFiles()]
    expect(files.map(([path]) => [path, readFileSync(path, 'utf8')])).toEqual(files)
    const staging = readdirSync(STAGING).map((name) => `${STAGING}/${name}`)
    expect(files.map(([path]) => path)).toEqual(expect.arrayContaining(staging))
  })

  it('has a model for each stream, each column of which is described', () => {
    expect(models.map(({ name }) => name)).toEqual(
      [...streams.keys(), 'inventory'].map((stream) => `stg_protime__${stream}`),
    )
    const columns = models.flatMap((model) => model.columns)
    expect(columns.filter(({ description }) => !description?.endsWith('.'))).toEqual([])
  })

  it('has one column for two spellings of a field', () => {
    const people = dbtFiles().get(`${STAGING}/stg_protime__people.sql`)
    expect(people).toContain("['country_iso_code', 'text', 'countryISOCode|countryIsoCode']")
  })

  it('sums the columns that the connector sums, in their order', () => {
    const files = dbtFiles()
    const sums = files.get('dbt/models/intermediate/int_protime__stream_sums.sql') ?? ''
    expect(streams.size).toBeGreaterThan(0)
    for (const stream of streams.values()) {
      const model = files.get(`${STAGING}/stg_protime__${stream.stream}.sql`) ?? ''
      // The same choice as in macros/models.sql.
      const summed = [...model.matchAll(/\['\w+', '(\w+)', '(.+)'\]/g)].filter(
        ([, type = '', path = '']) =>
          !['json', 'timestamp'].includes(type) &&
          ![...keyOf(stream), 'changeVersion'].includes(path),
      )
      const names = summed.map(([, type, paths]) => `${paths} ${type}`).join('\n')
      const name = createHash('md5').update(names).digest('hex').slice(0, 16)
      expect([stream.stream, name]).toEqual([stream.stream, columnsName(stream)])
      expect(sums).toMatch(new RegExp(`row_sums\\('${stream.stream}', .*, '${name}'\\)`))
    }
  })

  it('says how much a column reveals of a person, and which id it has', () => {
    const person = clockings?.columns.find(({ name }) => name === 'person_id')
    expect(person?.config?.meta).toEqual({ privacy: 'personal', joins: 'stg_protime__people.id' })
  })

  it('tests the values and the parents that a schema names', () => {
    const [, documented] = clockings?.data_tests ?? []
    expect(documented?.['protime_documented']?.arguments).toEqual({
      values: {
        kind: ['InOut', 'Reason', 'Activity', 'ActivityEnd', 'Absence'],
        status: ['Unknown', 'Active', 'Deleted'],
      },
      parents: { person_id: 'stg_protime__people', reason_id: 'stg_protime__absence_definitions' },
    })
  })
})
