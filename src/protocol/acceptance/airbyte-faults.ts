import { createRequire } from 'node:module'
import { CDC_CURSOR } from '../sync-columns.ts'
import { type Message, messagesOf, type ProgramRun, tellsSecret } from './messages.ts'

/** A command of a source. */
export type SourceCommand = keyof typeof ACCEPTED

/**
 * Checks a run of a source against the rules of the Airbyte protocol and of the programs that use it: the protocol's
 * own definition, Airbyte's acceptance tests, the platform, and PyAirbyte. Returns one sentence per fault.
 */
export function airbyteFaults(run: ProgramRun, command: SourceCommand): string[] {
  const { messages: all, faults } = messagesOf<Message>(run)
  // A message that is not valid is reported once, and no other rule is applied to it.
  const ofMessages = all.map(protocolFaults)
  const messages = all.filter((_message, i) => ofMessages[i] === '')
  const { isCut = false, catalog = { streams: [] } } = run
  const streams = catalog.streams.map(describedStream)
  const names = streams.map(({ name }) => name)
  const isRead = command === 'read'
  return [
    ...faults,
    ...ofMessages.filter(Boolean),
    ...outputFaults(messages, run, command),
    ...(isRead ? recordFaults(messages, streams) : []),
    ...(isRead ? stateFaults(messages, names) : []),
    ...(isRead ? traceFaults(messages, names) : []),
    ...(isCut ? [] : exitFaults(messages, run)),
    ...(isCut || isRead ? [] : answerFaults(messages, run, command)),
    ...(isCut || !isRead ? [] : names.flatMap((name) => endFaults(name, messages))),
    ...(isCut || !isRead ? [] : errorFaults(messages)),
  ]
}

/** The messages that the platform accepts from each command; the first one is the answer. */
const ACCEPTED = {
  spec: ['SPEC', 'LOG', 'TRACE'],
  check: ['CONNECTION_STATUS', 'LOG', 'TRACE'],
  discover: ['CATALOG', 'LOG', 'TRACE'],
  read: ['RECORD', 'STATE', 'LOG', 'TRACE'],
} as const

/** The parts of a stream in a catalog that its records are checked against. */
interface DescribedStream {
  readonly name: string
  /** The paths of the primary key. */
  readonly key: readonly (readonly string[])[]
  readonly hasCursor: boolean
}

function describedStream(entry: object): DescribedStream {
  const { name, json_schema, source_defined_primary_key } = (
    'stream' in entry ? entry.stream : entry
  ) as {
    readonly name: string
    readonly json_schema?: { readonly properties?: object }
    readonly source_defined_primary_key?: DescribedStream['key']
  }
  const hasCursor = CDC_CURSOR in (json_schema?.properties ?? {})
  return { name, key: source_defined_primary_key ?? [], hasCursor }
}

/**
 * Checks the types of messages, that no secret is printed, and that stderr is empty, because the platform logs stderr
 * as errors.
 */
function outputFaults(
  messages: readonly Message[],
  run: ProgramRun,
  command: SourceCommand,
): string[] {
  const { stderr, isCut = false } = run
  const accepted: readonly string[] = ACCEPTED[command]
  const faults = messages
    .filter(({ type }) => !accepted.includes(type))
    .map(({ type }) => `${command} responds with a ${type}`)
  if (!isCut && stderr !== '') faults.push(`${command} wrote to stderr: ${stderr.slice(0, 200)}`)
  // Secrets may occur in records, which are the service's data, and in states, which contain its links.
  const told = messages.filter(({ type }) => type !== 'RECORD' && type !== 'STATE')
  if (
    [...told.map((message) => JSON.stringify(message)), stderr].some((text) =>
      tellsSecret(text, run),
    )
  )
    faults.push(`${command} prints a secret`)
  return faults
}

/** Milliseconds. Every record is later; a time in seconds is below it. */
const EARLIEST = Date.UTC(2000)

/** Checks records: the platform fails a sync at a record of another stream, drops empty records, and needs keys. */
function recordFaults(messages: readonly Message[], streams: readonly DescribedStream[]): string[] {
  const faults = new Set<string>()
  const described = new Map(streams.map((stream) => [stream.name, stream]))
  const lastCursors = new Map<string, number>()
  for (const { record } of messages) {
    if (record === undefined) continue
    const { stream: name, data, emitted_at: at } = record
    if (!(at > EARLIEST)) faults.add(`${name}: a record of the time ${at}`)
    const stream = described.get(name)
    if (stream === undefined) {
      faults.add(`a record of ${name}, which is not in the catalog`)
      continue
    }
    const key = stream.key.map((path) => valueAt(path, data))
    if (Object.keys(data).length === 0) faults.add(`${name}: an empty record`)
    else if (key.some((value) => value === undefined || value === null))
      faults.add(`${name}: a record without its key`)
    if (!stream.hasCursor) continue
    const cursor = data[CDC_CURSOR]
    const row = `${name} ${JSON.stringify(key)}`
    if (!Number.isSafeInteger(cursor)) faults.add(`${name}: a record with the cursor ${cursor}`)
    else if (!(Number(cursor) >= (lastCursors.get(name) ?? 0)))
      faults.add(`${name}: a cursor that falls`)
    else if (key.length > 0 && Number(cursor) === lastCursors.get(row))
      faults.add(`${row}: one cursor twice`)
    for (const one of [name, row]) lastCursors.set(one, Number(cursor))
  }
  return [...faults]
}

function valueAt(path: readonly string[], data: unknown): unknown {
  return path.reduce(
    (value, name) => (value as Record<string, unknown> | null | undefined)?.[name],
    data,
  )
}

/** Checks states: they have the current form, and count exactly the records since the previous one. */
function stateFaults(messages: readonly Message[], streams: readonly string[]): string[] {
  const faults: string[] = []
  const pending = new Map<string, number>()
  for (const { record, state } of messages) {
    if (record !== undefined) pending.set(record.stream, (pending.get(record.stream) ?? 0) + 1)
    if (state === undefined) continue
    if (state.type !== 'STREAM') {
      faults.push(`a state of type ${state.type}`)
      continue
    }
    const { name } = state.stream.stream_descriptor
    const count = state.sourceStats?.recordCount
    const actual = pending.get(name) ?? 0
    if (!streams.includes(name)) faults.push(`a state of ${name}, which is not in the catalog`)
    if (count !== actual) faults.push(`${name}: a state counts ${count} of ${actual} records`)
    pending.set(name, 0)
  }
  return faults
}

/**
 * Checks that statuses come in order, and that nothing of a stream comes before its first or after its last status.
 */
function traceFaults(messages: readonly Message[], streams: readonly string[]): string[] {
  const faults = new Set<string>()
  const open = new Set<string>()
  for (const { record, state, trace } of messages) {
    if (trace !== undefined && !(trace.emitted_at > 0)) faults.add('a trace without a time')
    const { stream_descriptor: descriptor, status, reasons } = trace?.stream_status ?? {}
    if (status === 'STARTED') open.add(descriptor?.name ?? '')
    const name = record?.stream ?? state?.stream?.stream_descriptor.name ?? descriptor?.name
    if (name !== undefined && !open.has(name)) faults.add(`${name}: something outside of its run`)
    if (status === 'COMPLETE' || status === 'INCOMPLETE') open.delete(descriptor?.name ?? '')
    if (descriptor !== undefined && !streams.includes(descriptor.name))
      faults.add(`a status of ${descriptor.name}, which is not in the catalog`)
    const isWait = status === 'RUNNING' && reasons?.length === 1
    if ((reasons?.length ?? 0) > 0 && !isWait) faults.add(`${name}: a ${status} with reasons`)
  }
  return [...faults]
}

/**
 * Checks the end of a stream: it ends once; a complete one has had the status RUNNING, and a state after its last
 * record.
 */
function endFaults(stream: string, messages: readonly Message[]): string[] {
  const faults: string[] = []
  const order = messages
    .flatMap(({ trace }) => trace?.stream_status ?? [])
    .filter(({ stream_descriptor: { name } }) => name === stream)
    .map(({ status }) => status)
    .join(' ')
  if (!/^STARTED( RUNNING)* (COMPLETE|INCOMPLETE)$/.test(order))
    faults.push(`${stream}: statuses ${order}`)
  if (!/ COMPLETE$/.test(order)) return faults
  const isOfStream = ({ state }: Message) => state?.stream?.stream_descriptor.name === stream
  const lastState = messages.findLastIndex(isOfStream)
  const states = messages.filter(isOfStream).map(({ state }) => JSON.stringify(state?.stream))
  const counts = messages.filter(isOfStream).map(({ state }) => state?.sourceStats.recordCount ?? 0)
  if (states.some((blob, i) => blob === states[i - 1] && (counts[i] ?? 0) > 0))
    faults.push(`${stream}: the same state before and after records`)
  if (!order.includes('RUNNING')) faults.push(`${stream}: complete without RUNNING`)
  if (lastState < 0) faults.push(`${stream}: complete without a state`)
  else if (messages.slice(lastState).some(({ record }) => record?.stream === stream))
    faults.push(`${stream}: records after the last state`)
  return faults
}

/**
 * Checks the exit code, because the platform looks only at it: if an error ends with 0, it publishes half a table.
 */
function exitFaults(messages: readonly Message[], { exitCode }: ProgramRun): string[] {
  const isFailed = messages.some(
    ({ trace }) => trace?.error !== undefined || trace?.stream_status?.status === 'INCOMPLETE',
  )
  return isFailed === (exitCode !== 0)
    ? []
    : [`exit code ${exitCode} ${isFailed ? 'after a failure' : 'without an error that says why'}`]
}

/** `spec`, `check` and `discover` answer once, or fail with an error. */
function answerFaults(
  messages: readonly Message[],
  { exitCode }: ProgramRun,
  command: SourceCommand,
): string[] {
  const [answer] = ACCEPTED[command]
  const count = messages.filter(({ type }) => type === answer).length
  return count === (exitCode === 0 ? 1 : 0)
    ? []
    : [`${command} gave ${count} ${answer} messages with exit code ${exitCode}`]
}

/**
 * Checks the order of errors. They come last, because PyAirbyte stops at the first one. Those that a retry can cure
 * come before the others, because the platform decides by the first one whether it retries.
 */
function errorFaults(messages: readonly Message[]): string[] {
  const faults: string[] = []
  const first = messages.findIndex(({ trace }) => trace?.error !== undefined)
  if (first >= 0 && messages.slice(first).some(({ record, state }) => record ?? state))
    faults.push('an error before records or states')
  const types = messages.flatMap(({ trace }) => trace?.error?.failure_type ?? [])
  const config = types.indexOf('config_error')
  if (config >= 0 && types.findLastIndex((type) => type !== 'config_error') > config)
    faults.push('a config_error before a failure that a retry would cure')
  return faults
}

/** The validator that the build compiles from the protocol's own definition. */
type Validate = ((message: unknown) => boolean) & { readonly errors?: readonly object[] | null }
let validate: Validate | undefined

/** Validates a message against the protocol's own definition; an empty string means that it is valid. */
export function protocolFaults(message: unknown): string {
  validate ??= createRequire(import.meta.url)('#airbyte-message') as Validate
  return validate(message) ? '' : JSON.stringify(validate.errors)
}
