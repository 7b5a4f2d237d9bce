import { Ajv, type ValidateFunction } from 'ajv'
import { CDC_CURSOR, GENERATION, MOST_GENERATION } from '../sync-columns.ts'
import { messagesOf, type ProgramRun, type SingerMessage, tellsSecret } from './messages.ts'

const TEXTS = { type: 'array', items: { type: 'string' } }
const OBJECT = { type: 'object' }
const STREAM = { type: 'string' }

/** The schema of each type of message. */
const SHAPES: Readonly<Record<string, object>> = {
  SCHEMA: {
    required: ['stream', 'schema', 'key_properties'],
    properties: {
      stream: STREAM,
      schema: { ...OBJECT, required: ['properties'], properties: { properties: OBJECT } },
      key_properties: TEXTS,
      bookmark_properties: TEXTS,
    },
  },
  RECORD: { required: ['stream', 'record'], properties: { stream: STREAM, record: OBJECT } },
  STATE: { required: ['value'], properties: { value: OBJECT } },
  ACTIVATE_VERSION: {
    required: ['stream', 'version'],
    properties: { stream: STREAM, version: { type: 'integer' } },
  },
}

/** The faults of a single message. */
function shapeFaults(message: SingerMessage): string[] {
  const { type } = message
  const shape = SHAPES[type]
  if (shape === undefined) return [`a message of type ${type}`]
  const validate = compiled(shape)
  return validate(message) ? [] : [`a ${type}: ${JSON.stringify(validate.errors)}`]
}

/** Checks the output of a tap for everything that targets cannot handle. Returns one sentence per fault. */
export function singerFaults(run: ProgramRun): string[] {
  const { messages, faults: ofLines } = messagesOf<SingerMessage>(run)
  const { stderr, isCut = false } = run
  const faults = [...ofLines]
  const schemas = new Map<string, Schema>()
  for (const message of messages) {
    const ofShape = shapeFaults(message)
    faults.push(...ofShape)
    if (ofShape.length > 0) continue
    if (message.type === 'SCHEMA') {
      if (schemas.has(message.stream)) faults.push(`${message.stream}: two schemas`)
      if (message.key_properties.length === 0) faults.push(`${message.stream}: no key`)
      if (!(message.bookmark_properties ?? []).every((name) => name in message.schema.properties))
        faults.push(`${message.stream}: a bookmark property that its schema does not have`)
      schemas.set(message.stream, message)
    }
    if (message.type === 'RECORD')
      faults.push(...recordFaults(message, schemas.get(message.stream)))
    if (message.type === 'STATE' && message.value.currently_syncing !== null)
      faults.push('a state that is syncing')
  }
  const isWhole = !isCut && messages.length > 0
  if (isWhole && messages[0]?.type !== 'STATE') faults.push('the first line is not a STATE')
  if (isWhole && messages.at(-1)?.type !== 'STATE') faults.push('the last line is not a STATE')
  if (tellsSecret(stderr, run)) faults.push('the log prints a secret')
  return faults
}

type Schema = Extract<SingerMessage, { type: 'SCHEMA' }>

function recordFaults(
  { stream, record, version, time_extracted: time }: Extract<SingerMessage, { type: 'RECORD' }>,
  described: Schema | undefined,
): string[] {
  if (described === undefined) return [`${stream}: a record before its schema`]
  const { schema, key_properties: key } = described
  const validate = compiled(schema)
  const faults: string[] = []
  if (!validate(record)) faults.push(`${stream}: ${JSON.stringify(validate.errors)}`)
  if (key.some((column) => (record[column] ?? null) === null))
    faults.push(`${stream}: a record without its key`)
  if (record[GENERATION] !== version) faults.push(`${stream}: ${GENERATION} is not the version`)
  if (CDC_CURSOR in schema.properties && !Number.isSafeInteger(record[CDC_CURSOR]))
    faults.push(`${stream}: no cursor`)
  if (GENERATION in schema.properties && !isVersion(version))
    faults.push(`${stream}: version ${version} is no generation`)
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(time)) faults.push(`${stream}: time_extracted ${time}`)
  return faults
}

function isVersion(version: number): boolean {
  return Number.isInteger(version) && version > 0 && version <= MOST_GENERATION
}

const FORMATS = {
  date: isDay,
  'date-time': (text: string) =>
    /^\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d+)?(Z|[+-]\d\d:?\d\d)$/i.test(text) &&
    isDay(text.slice(0, 10)),
  time: /^([01]\d|2[0-3])(:[0-5]\d){2}(\.\d+)?(Z|[+-]\d\d:?\d\d)$/i,
  uri: (text: string) => URL.canParse(text),
}

/** Whether the day exists: JavaScript converts 30 February to a day in March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

const ajv = new Ajv({ strict: false, formats: FORMATS, logger: false })
const validators = new WeakMap<object, ValidateFunction>()
const validatorsByText = new Map<string, ValidateFunction>()

/**
 * Compiles a schema. The result is cached, because compiling takes longer than the run itself, and most runs have the
 * same schemas.
 */
function compiled(schema: object): ValidateFunction {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const text = JSON.stringify(schema)
  const validate = validatorsByText.get(text) ?? ajv.compile(schema)
  validatorsByText.set(text, validate)
  validators.set(schema, validate)
  return validate
}
