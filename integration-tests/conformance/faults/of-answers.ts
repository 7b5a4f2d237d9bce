import { before, each, type Fault, first } from './fault.ts'

const info = JSON.stringify({ type: 'LOG', log: { level: 'INFO', message: 'Hello.' } })

/** Makes a fault of what `spec` says of the fields. */
function specified(does: string, brokenRule: string, change: Change): Fault {
  return { does, brokenRule, command: 'spec', lines: each('SPEC', spoiled(change)) }
}

/** Makes a fault of what `discover` says of the stream `people`. */
function discovered(does: string, brokenRule: string, change: Change): Fault {
  const lines = each('CATALOG', (message) => {
    for (const stream of message.catalog.streams) if (stream.name === 'people') change(stream)
    return message
  })
  return { does, brokenRule, command: 'discover', lines }
}

// biome-ignore lint/suspicious/noExplicitAny: what is broken on purpose has no type
type Change = (spoilt: any) => void

function spoiled(change: Change): Parameters<typeof each>[1] {
  return (message) => {
    change(message.spec.connectionSpecification)
    return message
  }
}

const WRONG_SECRET = 'secrets/wrong-secret.json'

/** Faults of spec, check and discover. */
export const faultsOfAnswers: readonly Fault[] = [
  {
    does: 'talks before it prints the SPEC',
    brokenRule: 'spec prints one SPEC among the first lines',
    command: 'spec',
    lines: (lines) => [...Array.from({ length: 10 }, () => info), ...lines],
  },
  specified('does not mark a secret', 'secrets are marked, and nothing else', (spec) => {
    delete spec.properties.client_secret.airbyte_secret
  }),
  specified('marks what is no secret', 'secrets are marked, and nothing else', (spec) => {
    spec.properties.environment.airbyte_secret = true
  }),
  specified(
    'requires what the configuration lacks',
    'the configuration fits the specification',
    (spec) => {
      spec.required.push('region')
    },
  ),
  specified('uses anyOf', 'the specification uses no forbidden keyword', (spec) => {
    spec.properties.tenant.anyOf = [{ minLength: 1 }]
  }),
  specified('allows text or numbers', 'the specification has simple types', (spec) => {
    spec.properties.tenant.type = ['string', 'integer']
  }),
  specified('repeats a value of an enum', 'no enum repeats a value', (spec) => {
    spec.properties.tenant.enum = ['demo', 'demo']
  }),
  specified('refuses unknown fields', 'the specification is open', (spec) => {
    spec.additionalProperties = false
  }),
  specified('offers options that look alike', 'choices can be told apart', (spec) => {
    delete spec.properties.environment.oneOf[0].properties.type.const
  }),
  specified('gives two fields one place', 'orders and groups are unambiguous', (spec) => {
    spec.properties.client_id.order = spec.properties.tenant.order
  }),
  specified('does not explain a field', 'every field has a title and a description', (spec) => {
    delete spec.properties.tenant.description
  }),
  specified('takes any text for a date', 'dates have patterns', (spec) => {
    delete spec.properties.start_date.pattern
  }),
  specified(
    'prints another SPEC than the reviewed one',
    'SPEC is the file that was reviewed',
    (spec) => {
      spec.title = 'Another'
    },
  ),
  {
    does: 'refers to a field for OAuth that does not exist',
    brokenRule: 'OAuth refers to fields that exist',
    command: 'spec',
    lines: each('SPEC', (message) => {
      message.spec.advanced_auth = { auth_flow_type: 'oauth2.0', predicate_key: ['login', 'type'] }
      return message
    }),
  },
  {
    does: 'answers a check twice',
    brokenRule: 'check answers as declared',
    command: 'check',
    lines: each('CONNECTION_STATUS', (message) => [message, message]),
  },
  {
    does: 'ends a failed check with exit code 1',
    brokenRule: 'check answers as declared',
    config: WRONG_SECRET,
    command: 'check',
    exitCode: 1,
  },
  {
    does: 'takes a wrong secret for a good one',
    brokenRule: 'check answers as declared',
    config: WRONG_SECRET,
    command: 'check',
    lines: each('CONNECTION_STATUS', (message) => {
      message.connectionStatus.status = 'SUCCEEDED'
      return message
    }),
  },
  {
    does: 'repeats the wrong secret to the user',
    brokenRule: 'check tells no secret',
    config: WRONG_SECRET,
    command: 'check',
    lines: each('CONNECTION_STATUS', (message) => {
      message.connectionStatus.message += ' The secret was wrong-secret-1234.'
      return message
    }),
  },
  {
    does: 'writes to stderr while it checks',
    brokenRule: 'check prints messages only',
    command: 'check',
    stderr: 'Checking...\n',
  },
  {
    does: 'prints text before the SPEC',
    brokenRule: 'spec prints messages only',
    command: 'spec',
    lines: before('Starting...'),
  },
  {
    does: 'logs its configuration while it discovers',
    brokenRule: 'discover tells no secret',
    command: 'discover',
    lines: before(
      JSON.stringify({ type: 'LOG', log: { level: 'INFO', message: '{"s":"emulator-secret"}' } }),
    ),
  },
  {
    does: 'prints text before the catalog',
    brokenRule: 'discover prints messages only',
    command: 'discover',
    lines: before('Discovering...'),
  },
  {
    does: 'prints two catalogs',
    brokenRule: 'discover prints one CATALOG',
    command: 'discover',
    lines: each('CATALOG', (message) => [message, message]),
  },
  {
    does: 'offers a stream twice',
    brokenRule: 'the catalog has streams of unique names',
    command: 'discover',
    lines: first('CATALOG', (message) => {
      message.catalog.streams.push(message.catalog.streams[0])
      return message
    }),
  },
  discovered('puts a $ref into a schema', 'schemas hold no references', (stream) => {
    stream.json_schema.properties.manager = { $ref: '#/properties/id' }
  }),
  discovered('uses allOf', 'schemas use no unsupported keyword', (stream) => {
    stream.json_schema.properties.id = { allOf: [{ type: 'integer' }] }
  }),
  discovered('closes a schema', 'schemas are open', (stream) => {
    stream.json_schema.additionalProperties = false
  }),
  discovered('offers a schema that is none', 'every schema is a valid JSON Schema', (stream) => {
    stream.json_schema.properties.id.type = 'whole number'
  }),
  discovered('makes up a type', 'types are those of the platform', (stream) => {
    stream.json_schema.properties.id.airbyte_type = 'uuid'
  }),
  discovered('has a key outside of the schema', 'primary keys are in the schemas', (stream) => {
    stream.source_defined_primary_key = [['number']]
  }),
  discovered('has an object for a key', 'primary keys are scalar', (stream) => {
    stream.json_schema.properties.id.type = ['object', 'null']
  }),
  discovered('has no key', 'every stream has a primary key', (stream) => {
    stream.source_defined_primary_key = []
  }),
  discovered('has a cursor outside of the schema', 'cursors are in the schemas', (stream) => {
    stream.default_cursor_field = ['updatedAt']
  }),
  discovered(
    'does not say who defines the cursor',
    'every stream declares its sync modes',
    (stream) => {
      delete stream.source_defined_cursor
    },
  ),
]
