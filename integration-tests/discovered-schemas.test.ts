import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTenant, type Tenant } from './engines/tenant.ts'
import type { CatalogStream } from './testing/airbyte-messages.ts'
import { type AirbyteOptions, type AirbyteRun, run } from './testing/run.ts'

const CHANGES = { inserts: 40, updates: 40, deletes: 40, softDeletes: 3 }
/** A number that JavaScript could not tell from an integer. */
const FRACTION_OF_NOTHING = /[:[,]-?\d+\.0+[,}\]]/

let tenant: Tenant
let catalog: readonly CatalogStream[]
const reads: Record<string, AirbyteRun> = {}

beforeAll(async () => {
  tenant = await startTenant()
  const { config, streams, emulator } = tenant
  const here = (command: AirbyteOptions['command'], files: Partial<AirbyteOptions> = {}) =>
    run({ program: 'source-protime', command, in: 'process', config, ...files })
  const { messages } = await here('discover')
  catalog = messages.flatMap((message) => message.catalog?.streams ?? [])
  const refresh = streams.map((name) => ({ name, sync_mode: 'full_refresh' }))
  const first = await here('read', { catalog: streams, state: [] })
  emulator.randomChanges(CHANGES)
  const next = await here('read', { catalog: streams, state: first.state })
  const full = await here('read', { catalog: refresh })
  Object.assign(reads, { 'a first read': first, 'a read of changes': next, 'a full refresh': full })
})
afterAll(() => tenant.emulator.close())

/** The schema by which Airbyte's acceptance tests look at a record, and which columns it names. */
function validatorOf({ json_schema: schema }: CatalogStream) {
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (data: Readonly<Record<string, unknown>>): string[] => {
    const unknown = Object.keys(data).filter((column) => !(column in schema.properties))
    return [
      ...(validate(data) ? [] : [ajv.errorsText(validate.errors)]),
      ...unknown.map((column) => `has the column ${column}, which its schema lacks`),
    ]
  }
}

describe('the catalog that discover shows', () => {
  it('has each stream once, with its modes and what they need', () => {
    expect(catalog.map(({ name }) => name)).toEqual(tenant.streams)
    const incomplete = catalog.filter(
      ({ supported_sync_modes: modes, source_defined_cursor: isDefined }) =>
        JSON.stringify(modes) !== '["full_refresh","incremental"]' || isDefined !== true,
    )
    expect(incomplete).toEqual([])
  })

  it('has keys and cursors that are columns, and keys that are no lists or objects', () => {
    const wrong = catalog.filter((stream) => {
      const { source_defined_primary_key: key, default_cursor_field: cursor } = stream
      const { properties } = stream.json_schema
      const types = key.flatMap(([name = '']) => (properties[name] as { type?: unknown })?.type)
      const isScalar = types.every((type) => type === 'integer' || type === 'string')
      return key.length === 0 || !isScalar || cursor.some((name) => !(name in properties))
    })
    expect(wrong.map(({ name }) => name)).toEqual([])
  })
})

describe('the records', () => {
  it.each(['a first read', 'a read of changes', 'a full refresh'])(
    'of %s fit the schemas that discover shows, and have no other column',
    (name) => {
      const recording = reads[name]
      const faults = new Set<string>()
      for (const stream of catalog) {
        const validate = validatorOf(stream)
        const records = recording?.records(stream.name) ?? []
        for (const data of records)
          for (const fault of validate(data)) faults.add(`${stream.name} ${fault}`)
      }
      expect([...faults]).toEqual([])
      expect(recording?.stdout).not.toMatch(FRACTION_OF_NOTHING)
    },
  )

  it('of a first read are there for every stream', () => {
    const empty = catalog.filter(({ name }) => reads['a first read']?.records(name).length === 0)
    expect(empty.map(({ name }) => name)).toEqual([])
  })
})
