import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { readProjectJson } from '../ground/project-files.ts'

interface Node {
  readonly [keyword: string]: unknown
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly order?: number
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly Node[]
  readonly items?: Node
}

const spec = readProjectJson('#spec') as {
  readonly connectionSpecification: Node
  readonly supportsIncremental: boolean
}
const root = spec.connectionSpecification

/** Names by which the platform's suites take a field for a secret (DOCS, CAT and FAST). */
const SECRET_NAME =
  /^(client_token|access_token|api_token|token|secret|client_secret|password|key|service_account_info|service_account|tenant_id|certificate|jwt|credentials|app_id|appid|refresh_token)$|_(token|secret)$|(api|private|access|privacy)_key$/

/** Keywords that the platform's form and its suites cannot read. */
const FORBIDDEN = [
  ...['not', 'anyOf', 'allOf', 'if', 'then', 'else', '$ref', 'patternProperties', 'prefixItems'],
  ...['dependentSchemas', 'dependentRequired'],
]

/** Every schema below the root, with its path. */
function nodesOf(node: Node, path = ''): [string, Node][] {
  const below = [
    ...Object.entries(node.properties ?? {}).map(([key, child]): [string, Node] => [key, child]),
    ...(node.oneOf ?? []).map((child, index): [string, Node] => [`oneOf ${index}`, child]),
    ...(node.items === undefined ? [] : [['items', node.items] as [string, Node]]),
  ]
  return below.flatMap(([key, child]) => {
    const at = path === '' ? key : `${path}.${key}`
    return [[at, child] as [string, Node], ...nodesOf(child, at)]
  })
}

/** The fields of the form: the properties of every object. */
const nodes = nodesOf(root)
const everyNode: [string, Node][] = [['', root], ...nodes]
const objects = everyNode.filter(([, node]) => node.properties !== undefined)
const fields = objects.flatMap(([path, { properties = {} }]) =>
  Object.entries(properties).map(([name, node]): [string, string, Node] => [
    path === '' ? name : `${path}.${name}`,
    name,
    node,
  ]),
)

/** Paths of the fields for which something is wrong. */
function fieldsWhere(isWrong: (node: Node, name: string) => boolean): string[] {
  return fields.filter(([, name, node]) => isWrong(node, name)).map(([path]) => path)
}

describe('the specification of the configuration', () => {
  it('is a valid schema of draft 7', () => {
    const ajv = new Ajv({ strict: false })
    expect(ajv.validateSchema(root), ajv.errorsText()).toBe(true)
  })

  it('says that the connector reads increments', () => {
    expect(spec.supportsIncremental).toBe(true)
  })

  it('gives every field a title in words and a description', () => {
    expect(
      fieldsWhere(
        ({ title = '', description = '' }) => !/^[A-Z]/.test(title) || !/\w.*\.$/.test(description),
      ),
    ).toEqual([])
  })

  it('gives the fields of every object an order of their own', () => {
    for (const [path, { properties = {} }] of objects) {
      const orders = Object.values(properties).map(({ order }) => order)
      const isNumbered = orders.every((order) => typeof order === 'number')
      expect([path, isNumbered, new Set(orders).size]).toEqual([path, true, orders.length])
    }
  })

  it('marks as a secret every field that sounds like one and may hold one, and no other', () => {
    const mayHold = ({ type }: Node) => type === 'string' || type === 'integer' || type === 'number'
    expect(
      fieldsWhere(
        (node, name) =>
          (node['airbyte_secret'] === true) !== (SECRET_NAME.test(name) && mayHold(node)),
      ),
    ).toEqual([])
  })

  it('is free of keywords that the form cannot show', () => {
    const found = everyNode.flatMap(([, node]) => FORBIDDEN.filter((keyword) => keyword in node))
    expect(found).toEqual([])
  })

  it('gives every value one type, every list one kind of item, every object its fields', () => {
    const wrong = nodes.filter(([, { type, items, properties, oneOf }]) => {
      if (typeof type !== 'string') return true
      if (type === 'array') return items === undefined || Array.isArray(items)
      return type === 'object' && properties === undefined && oneOf === undefined
    })
    expect(wrong.map(([path]) => path)).toEqual([])
  })

  it('never refuses a key that it does not know', () => {
    const stated = everyNode.flatMap(([, node]) => node['additionalProperties'] ?? [])
    expect(stated).toEqual(stated.map(() => true))
  })

  it('requires only fields that exist and have no default', () => {
    const wrong = objects.flatMap(([path, { required = [], properties = {} }]) =>
      required
        .filter((name) => properties[name] === undefined || 'default' in properties[name])
        .map((name) => `${path}.${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('has defaults and examples that it accepts itself', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    const wrong = nodes.filter(([, node]) => {
      const examples = (node['examples'] as unknown[] | undefined) ?? []
      const values = 'default' in node ? [node['default'], ...examples] : examples
      return values.some((value) => !ajv.validate(node, value))
    })
    expect(wrong.map(([path]) => path)).toEqual([])
  })

  it('shows the form of a value instead of a regular expression', () => {
    expect(fieldsWhere((node) => 'pattern' in node !== 'pattern_descriptor' in node)).toEqual([])
  })

  it('bounds every number', () => {
    expect(
      fieldsWhere((node) => node.type === 'integer' && !('minimum' in node && 'maximum' in node)),
    ).toEqual([])
  })

  it('writes dates as the platform expects them', () => {
    const dates = fields.filter(([, , node]) => node['format'] === 'date')
    expect(dates.map(([path, , node]) => [path, node['pattern']])).toEqual([
      ['start_date', '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'],
    ])
  })
})

describe('a choice between alternatives', () => {
  const choices = nodes.filter(([, node]) => node.oneOf !== undefined)

  it('is an object, shown as one, whose alternatives have fields', () => {
    const shapes = choices.map(([, { type, oneOf = [], ...node }]) => [
      type,
      node['display_type'],
      oneOf.every(({ properties }) => properties !== undefined),
    ])
    expect(shapes).toEqual(choices.map(() => ['object', 'dropdown', true]))
  })

  it('is made by one constant, the same field in each and another value in each', () => {
    for (const [path, { oneOf = [] }] of choices) {
      const constants = oneOf.map(({ properties = {} }) =>
        Object.entries(properties).filter(([, node]) => 'const' in node),
      )
      const names = new Set(constants.flat().map(([name]) => name))
      const values = new Set(constants.flat().map(([, node]) => node['const']))
      expect([path, constants.map(({ length }) => length), names.size, values.size]).toEqual([
        path,
        oneOf.map(() => 1),
        1,
        oneOf.length,
      ])
    }
  })
})
