import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { referencedCollections, type Stream } from './collections.ts'
import { INVENTORY, keyOf, readScopes, streams } from './streams.ts'

/** The collections that the specification names, except terminals, which has no endpoint. */
const SPECIFIED =
  'absences absence-definitions absence-groups access-clockings activity-definitions activity-durations break-definitions breaks calculated-totals clockings contracts counters counter-definitions counter-groups departments employers job-categories jobs paid-presences people shift-definitions work-interruptions work-locations'

describe('the streams', () => {
  // spec: Service 2
  it('are all collections of the specification that have an endpoint, and more', () => {
    const collections = [...streams.values()].map(({ collection }) => collection)
    expect(collections).toEqual(expect.arrayContaining(SPECIFIED.split(' ')))
  })

  it('have names without hyphens, which some loaders treat as separators', () => {
    expect([...streams.keys()].filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([])
  })
})

describe('the key of a stream', () => {
  // spec: External references 2
  it.each([
    ['people', ['id']],
    ['external_references', ['collection', 'name', 'value']],
  ])('of %s is %j', (name, key) => {
    expect(keyOf(streams.get(name) as Stream)).toEqual(key)
  })
})

it('reading needs only scopes for reading', () => {
  const scopes = [...streams.values()].flatMap(readScopes)
  expect(scopes.filter((scope) => !/^[a-z-]+\.read$/.test(scope))).toEqual([])
  expect(scopes).not.toContain('webhooks.read')
})

const listed = new Map([...streams, [INVENTORY.stream, INVENTORY]])

type Json = Readonly<Record<string, unknown>>

interface Node extends Json {
  readonly type: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

interface StreamFile extends Node {
  readonly title: string
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, Node>>
  readonly examples: readonly Json[]
}

const FOLDER = new URL('../../schemas/', import.meta.url)

/** Keywords that engines refuse, or that would reject a record the service may send one day. */
const FORBIDDEN = [
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'patternProperties'],
  ...['enum', 'const', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'],
]

/** What `x-privacy` may be; the items of a list are of the list's class. */
const PRIVACY_CLASSES: readonly unknown[] = [
  'none',
  'personal',
  'identifying',
  'sensitive',
  'secret',
]

/** Collections of references have the names of what they are of; a parent is of its own collection. */
function meaningOfReferences(of: string, own: string): RegExp {
  const singular = { person: 'people', parent: own, 'parent contract': own }[of] ?? of
  const known = referencedCollections.find((collection) =>
    [collection, collection.replace(/ies$/, 'y'), collection.replace(/s$/, '')].includes(
      singular.replaceAll(' ', '-'),
    ),
  )
  return new RegExp(`^${known}$`)
}

/** Fields of several types, because the vendor's texts differ. */
const SEVERAL_TYPES = ['longitude', 'latitude']

const ajv = formats.default(new Ajv({ allErrors: true, allowUnionTypes: true }))
const KEYWORDS = ['airbyte_type', 'x-privacy', 'x-meaning', 'x-view', 'x-values']
for (const keyword of KEYWORDS) ajv.addKeyword(keyword)

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace(/\.json$/, ''))
const files = names.map((name): [string, StreamFile] => [
  name,
  JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as StreamFile,
])

/** Every property below a schema, with its path; array elements are the path of the array and []. */
function fieldsOf(node: Node, path = ''): [string, Node][] {
  const properties = Object.entries(node.properties ?? {}).flatMap(
    ([name, child]): [string, Node][] => [
      [`${path}${name}`, child],
      ...fieldsOf(child, `${path}${name}.`),
    ],
  )
  if (node.items === undefined) return properties
  const items = `${path.slice(0, -1)}[]`
  return [...properties, [items, node.items], ...fieldsOf(node.items, `${items}.`)]
}

/** Every path that a value fills with something else than null, written as `fieldsOf` does. */
function pathsOf(value: unknown, path: string): string[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return [path, ...value.flatMap((item) => pathsOf(item, `${path}[]`))]
  if (typeof value !== 'object') return [path]
  const prefix = path === '' ? '' : `${path}.`
  return [path, ...Object.entries(value).flatMap(([name, child]) => pathsOf(child, prefix + name))]
}

function pathsWhere(schema: StreamFile, wrong: (node: Node, path: string) => boolean): string[] {
  return fieldsOf(schema)
    .filter(([path, node]) => wrong(node, path))
    .map(([path]) => path)
}

function typesOf(node: Node): readonly string[] {
  return typeof node.type === 'string' ? [node.type] : node.type
}

function keysOf(name: string): readonly string[] {
  const stream = listed.get(name)
  return stream === undefined ? [] : keyOf(stream)
}

it('schemas/<stream>.json is there for each stream of the catalogue, and for no other', () => {
  expect(names.toSorted()).toEqual([...listed.keys()].toSorted())
})

describe.each(files)('the schema of %s', (name, schema) => {
  it('is a valid schema of draft 7', () => {
    expect(schema['$schema']).toBe('http://json-schema.org/draft-07/schema#')
    expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true)
  })

  it('accepts its own examples', () => {
    const validate = ajv.compile(schema)
    const errors = schema.examples.map((example) => (validate(example) ? [] : validate.errors))
    expect(errors).toEqual(schema.examples.map(() => []))
  })

  it('shows every field in one of its examples', () => {
    const shown = new Set(schema.examples.flatMap((example) => pathsOf(example, '')))
    expect(pathsWhere(schema, (_, path) => !shown.has(path))).toEqual([])
  })

  it('numbers the versions of its examples as the service does', () => {
    const versions = schema.examples.map((example) => example['changeVersion'])
    const expected = expect.stringMatching(/^[0-9A-F]{20}$/)
    expect(versions).toEqual(
      versions.map(() => ('changeVersion' in schema.properties ? expected : undefined)),
    )
  })

  it('says what a record is and what every field means', () => {
    expect(schema.title).toMatch(/\w/)
    expect(schema.description).toMatch(/\w.*\.$/)
    expect(pathsWhere(schema, (node) => !/\w.*\.$/.test(node.description ?? ''))).toEqual([])
  })

  it('classifies how much every field reveals of a person', () => {
    const unclassified = pathsWhere(
      schema,
      (node, path) => !path.endsWith('[]') && !PRIVACY_CLASSES.includes(node['x-privacy']),
    )
    expect(unclassified).toEqual([])
  })

  it('gives values that can be joined the same meaning', () => {
    const expected = fieldsOf(schema).flatMap(([path, { description = '' }]) => {
      const own = name.replaceAll('_', '-')
      const joined = /joins to (\w+)\.id/.exec(description)?.[1]?.replaceAll('_', '-')
      const reference = /the value of the external reference (@[\w-]+)/.exec(description)?.[1]
      const of = /^External references of the ([\w ]+): /.exec(description)?.[1]
      if (path === 'badgeNumber') return []
      if (path === 'id') return [[path, `${own}.id`]]
      if (joined !== undefined) return [[path, `${joined}.id`]]
      if (reference !== undefined) return [[path, `${own} ${reference}`]]
      return of === undefined ? [] : [[path, expect.stringMatching(meaningOfReferences(of, own))]]
    })
    const meanings = fieldsOf(schema).map(([path, node]) => [path, node['x-meaning']])
    expect(meanings).toEqual(expect.arrayContaining(expected))
  })

  it('lists the values that it says are known, and describes no others', () => {
    const told = fieldsOf(schema).map(([path, { description = '' }]) => {
      const [, list] = /Known values: ([^;.]*)/.exec(description) ?? []
      return [path, list?.replace(/\([^)]*\)/g, '').match(/\w+/g)] as const
    })
    const listed = fieldsOf(schema).map(([path, node]) => [path, node['x-values']] as const)
    expect(listed).toEqual(
      told.map(([path, values]) => [path, values && expect.arrayContaining(values)]),
    )
    const unsaid = fieldsOf(schema).flatMap(([path, { description = '', ...node }]) =>
      ((node['x-values'] ?? []) as string[])
        .filter((value) => !new RegExp(`\\b${value}\\b`).test(description))
        .map((value) => `${path} ${value}`),
    )
    expect(unsaid).toEqual([])
  })

  it('classifies every map of references as identifying', () => {
    const maps = fieldsOf(schema).filter(([path]) => /(^|\.)externalReferences$/.test(path))
    expect(maps.filter(([, node]) => node['x-privacy'] !== 'identifying')).toEqual([])
  })

  it('requires only the key to be present and not null', () => {
    const keys = keysOf(name)
    expect(schema.required).toEqual(keys)
    expect(pathsWhere(schema, (node) => !typesOf(node).includes('null'))).toEqual(keys)
  })

  it('gives a field one type besides null, unless the vendor documents two', () => {
    const severalTypes = pathsWhere(
      schema,
      (node, path) =>
        typesOf(node).length > 2 && !SEVERAL_TYPES.includes(path.split('.').at(-1) ?? ''),
    )
    expect(severalTypes).toEqual([])
  })

  it('declares an array if a single object is wrapped in one', () => {
    const { array } = listed.get(name) ?? {}
    const types = array === undefined ? [] : schema.properties[array]?.type
    expect(types).toEqual(array === undefined ? [] : ['array', 'null'])
  })

  it('lets the service add fields to every object', () => {
    expect(schema['additionalProperties']).toBe(true)
    const closed = pathsWhere(
      schema,
      (node) => typesOf(node).includes('object') && node['additionalProperties'] !== true,
    )
    expect(closed).toEqual([])
  })

  it('uses no keyword that engines refuse or that a new value could break', () => {
    const nodes: [string, Node][] = [['', schema], ...fieldsOf(schema)]
    const used = nodes.flatMap(([path, node]) =>
      FORBIDDEN.filter((keyword) => keyword in node).map((keyword) => `${path} ${keyword}`),
    )
    expect(used).toEqual([])
  })

  it('tells destinations whether a date-time has a time zone', () => {
    const untold = pathsWhere(
      schema,
      (node) =>
        (node['format'] === 'date-time') !== (node['airbyte_type'] === 'timestamp_with_timezone'),
    )
    expect(untold).toEqual([])
  })

  it('begins with the key and the version', () => {
    const stream = listed.get(name)
    const first = stream?.versioned === false ? keysOf(name) : [...keysOf(name), 'changeVersion']
    expect(Object.keys(schema.properties).slice(0, first.length)).toEqual(first)
  })

  it('leaves out fields that the program adds, and those that only create bodies have', () => {
    const foreign = pathsWhere(schema, (_, path) =>
      /(^|\.)(_ab_|_sdc_|_generation$|externalReferenceIdentifier$)/.test(path),
    )
    expect(foreign).toEqual([])
  })

  it('has external references at the top level if the collection supports its own', () => {
    const stream = listed.get(name)
    const own = stream?.references?.includes(stream.collection) ?? false
    expect('externalReferences' in schema.properties).toBe(own)
  })
})
