import { createRequire } from 'node:module'
import { CDC_CURSOR } from '../sync-columns.ts'
import { type Message, messagesOf, type ProgramRun, tellsSecret } from './messages.ts'

/** A command of a source. */
export type SourceCommand = keyof typeof ACCEPTED

/**
 * What a run of a source breaks of the rules of the Airbyte protocol and of those who run it: the protocol's own
 * definition, Airbyte's acceptance tests, the platform, PyAirbyte. One sentence for each fault.
 */
export function airbyteFaults(run: ProgramRun, command: SourceCommand): string[] {
  const { messages: all, faults } = messagesOf<Message>(run)
  // What is no message of the protocol is told once.
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

/** What the platform takes from each command; the first of the list is the answer. */
const ACCEPTED = {
  spec: ['SPEC', 'LOG', 'TRACE'],
  check: ['CONNECTION_STATUS', 'LOG', 'TRACE'],
  discover: ['CATALOG', 'LOG', 'TRACE'],
  read: ['RECORD', 'STATE', 'LOG', 'TRACE'],
} as const

/** What a catalog says of a stream, as far as records are held to it. */
interface DescribedStream {
  readonly name: string
  /** The paths of its key. */
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

/** The platform logs stderr as errors. */
function outputFaults(
  messages: readonly Message[],
  run: ProgramRun,
  command: SourceCommand,
): string[] {
  const { stderr, isCut = false } = run
  const accepted: readonly string[] = ACCEPTED[command]
  const faults = messages
    .filter(({ type }) => !accepted.includes(type))
    .map(({ type }) => `${command} answers with a ${type}`)
  if (!isCut && stderr !== '') faults.push(`${command} wrote to stderr: ${stderr.slice(0, 200)}`)
  // Records are the service's own data, and a state must hold its links as they are.
  const told = messages.filter(({ type }) => type !== 'RECORD' && type !== 'STATE')
  if (
    [...told.map((message) => JSON.stringify(message)), stderr].some((text) =>
      tellsSecret(text, run),
    )
  )
    faults.push(`${command} prints a secret`)
  return faults
}

/** Milliseconds of a time before that of every service; seconds are below it. */
const EARLIEST = Date.UTC(2000)

/** The platform fails a sync at the record of another stream, drops an empty one, and needs keys. */
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

/** States of the present form, which count the records since the one before exactly. */
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

/** Statuses in their order, and nothing of a stream before its first or after its last one. */
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

/** A stream ends once; a complete one has said that it runs, and has a state after all its records. */
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

/** The exit code alone decides: an error with 0 makes the platform swap half a table in. */
function exitFaults(messages: readonly Message[], { exitCode }: ProgramRun): string[] {
  const isFailed = messages.some(
    ({ trace }) => trace?.error !== undefined || trace?.stream_status?.status === 'INCOMPLETE',
  )
  return isFailed === (exitCode !== 0)
    ? []
    : [`exit code ${exitCode} ${isFailed ? 'after a failure' : 'without an error that says why'}`]
}

/** `spec`, `check` and `discover` answer once, or say why they cannot. */
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
 * PyAirbyte stops at the first error, so they come last; the platform retries by the first failure,
 * so one that a retry would cure comes before those that it would not.
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

/** What the build makes of the protocol's own definition. */
type Validate = ((message: unknown) => boolean) & { readonly errors?: readonly object[] | null }
let validate: Validate | undefined

/** The faults of a message against the protocol's own definition; an empty text means none. */
export function protocolFaults(message: unknown): string {
  validate ??= createRequire(import.meta.url)('#airbyte-message') as Validate
  return validate(message) ? '' : JSON.stringify(validate.errors)
}
