import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import type { Message } from './airbyte-messages.ts'
import { tellsSecret } from './output.ts'
import { keyOf } from './warehouse.ts'

/** What of a run the rules look at. */
export interface AirbyteRecording {
  readonly exitCode: number | null
  readonly messages: readonly Message[]
  readonly stdout: string
  readonly stderr: string
}

/** What the run was for. */
export interface Expected {
  readonly command: 'spec' | 'check' | 'discover' | 'read'
  readonly config?: unknown
  /** The streams of the catalog. */
  readonly streams: readonly string[]
  /** A run that was cut off keeps the rules that hold for every beginning of an output. */
  readonly isCut: boolean
}

/**
 * The rules of the Airbyte protocol and of those who run it: the protocol's own definition, Airbyte's
 * acceptance tests, the platform, PyAirbyte. One sentence for each fault.
 */
export function airbyteFaults(recording: AirbyteRecording, expected: Expected): string[] {
  const { command, isCut } = expected
  const { messages } = recording
  const isRead = command === 'read'
  return [
    ...messages.map(protocolFaults).filter(Boolean),
    ...outputFaults(recording, expected),
    ...(isRead ? recordFaults(messages, expected.streams) : []),
    ...(isRead ? stateFaults(messages, expected.streams) : []),
    ...(isRead ? traceFaults(messages, expected.streams) : []),
    ...(isCut ? [] : exitFaults(recording)),
    ...(isCut || isRead ? [] : answerFaults(recording, command)),
    ...(isCut || !isRead ? [] : expected.streams.flatMap((name) => endFaults(name, messages))),
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

/** A line without its end takes the next one with it, and the platform logs stderr as errors. */
function outputFaults(
  { messages, stdout, stderr }: AirbyteRecording,
  expected: Expected,
): string[] {
  const { command, config, isCut } = expected
  const accepted: readonly string[] = ACCEPTED[command]
  const faults = messages
    .filter(({ type }) => !accepted.includes(type))
    .map(({ type }) => `${command} answers with a ${type}`)
  if (!isCut && stdout !== '' && !stdout.endsWith('\n')) faults.push('the last line has no end')
  if (!isCut && stderr !== '') faults.push(`${command} wrote to stderr: ${stderr.slice(0, 200)}`)
  // Records are the service's own data, and a state must hold its links as they are.
  const told = messages.filter(({ type }) => type !== 'RECORD' && type !== 'STATE')
  if (
    [...told.map((message) => JSON.stringify(message)), stderr].some((text) =>
      tellsSecret(text, config),
    )
  )
    faults.push(`${command} tells the client secret`)
  return faults
}

/** Milliseconds of a time before that of every service; seconds are below it. */
const EARLIEST = Date.UTC(2000)

/** The platform fails a sync at the record of another stream, drops an empty one, and needs keys. */
function recordFaults(messages: readonly Message[], streams: readonly string[]): string[] {
  const faults = new Set<string>()
  const lastCursors = new Map<string, number>()
  for (const { record } of messages) {
    if (record === undefined) continue
    const { stream, data, emitted_at: at } = record
    if (!streams.includes(stream)) faults.add(`a record of ${stream}, which is not in the catalog`)
    if (Object.keys(data).length === 0) faults.add(`${stream}: an empty record`)
    else if ((data['id'] ?? data['collection'] ?? null) === null)
      faults.add(`${stream}: a record without its key`)
    if (!(at > EARLIEST)) faults.add(`${stream}: a record of the time ${at}`)
    const cursor = data['_ab_cdc_cursor']
    const row = `${stream} ${keyOf(data)}`
    if (!Number.isSafeInteger(cursor)) faults.add(`${stream}: a record with the cursor ${cursor}`)
    else if (!(Number(cursor) >= (lastCursors.get(stream) ?? 0)))
      faults.add(`${stream}: a cursor that falls`)
    else if (Number(cursor) === lastCursors.get(row)) faults.add(`${row}: one cursor twice`)
    for (const name of [stream, row]) lastCursors.set(name, Number(cursor))
  }
  return [...faults]
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
function exitFaults({ exitCode, messages }: AirbyteRecording): string[] {
  const isFailed = messages.some(
    ({ trace }) => trace?.error !== undefined || trace?.stream_status?.status === 'INCOMPLETE',
  )
  return isFailed === (exitCode !== 0)
    ? []
    : [`exit code ${exitCode} ${isFailed ? 'after a failure' : 'without an error that says why'}`]
}

/** `spec`, `check` and `discover` answer once, or say why they cannot. */
function answerFaults(
  { exitCode, messages }: AirbyteRecording,
  command: Expected['command'],
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

const DEFINITION = new URL('../fixtures/airbyte_protocol.yaml', import.meta.url)
let validator: ValidateFunction | undefined

/** The faults of a message against the protocol's own definition; an empty text means none. */
export function protocolFaults(message: unknown): string {
  validator ??= compile()
  return validator(message) ? '' : JSON.stringify(validator.errors)
}

function compile(): ValidateFunction {
  // The definition has keywords of its code generator, which are not JSON Schema.
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(parse(readFileSync(DEFINITION, 'utf8')) as object, 'protocol')
  const validate = ajv.getSchema('protocol#/definitions/AirbyteMessage')
  if (validate === undefined) throw new Error('the protocol definition has no AirbyteMessage')
  return validate
}
