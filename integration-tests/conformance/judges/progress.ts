import {
  errorsOf,
  type OfferedStream,
  recordsOf,
  statesOf,
  statusesOf,
  type Transcript,
} from '../transcript.ts'

type Streams = readonly OfferedStream[]

/** Only records and states show that a source lives; the platform waits this long by default. */
const HEARTBEAT_SECONDS = 10_800

export function endsWell(transcript: Transcript): string[] {
  const { exitCode } = transcript
  const errors = errorsOf(transcript).map(({ message }) => `an error: ${message}`)
  return exitCode === 0 ? errors : [`the read ended with ${exitCode}`, ...errors]
}

/** The exit code alone decides: an error with 0 makes the platform swap half a table in. */
export function exitCodeTellsErrors(transcript: Transcript): string[] {
  const isFailed = errorsOf(transcript).length > 0
  const incomplete = transcript.messages.some(
    ({ trace }) => trace?.stream_status?.status === 'INCOMPLETE',
  )
  const { exitCode } = transcript
  if (exitCode === 0) return isFailed || incomplete ? ['exit code 0 after a failure'] : []
  return isFailed ? [] : [`exit code ${exitCode} without an error that says why`]
}

/** STARTED, RUNNING at least once, COMPLETE; CAT wants three statuses even of an empty stream. */
export function statusesAreInOrder(transcript: Transcript, streams: Streams): string[] {
  const wrong = streams.flatMap(({ name }) => {
    const order = statusesOf(transcript, name).join(' ')
    return /^STARTED( RUNNING)+ COMPLETE$/.test(order) ? [] : [`${name} has the statuses ${order}`]
  })
  const names = streams.map(({ name }) => name)
  const strange = transcript.messages.flatMap(({ trace }) => {
    const name = trace?.stream_status?.stream_descriptor.name
    return name === undefined || names.includes(name) ? [] : [`a status of the unknown ${name}`]
  })
  return [...wrong, ...strange]
}

/** Records and states stand between STARTED and COMPLETE of their stream, or nobody counts them. */
export function nothingFollowsTheEnd({ messages }: Transcript): string[] {
  const open = new Set<string>()
  const faults = new Set<string>()
  for (const { record, state, trace } of messages) {
    const status = trace?.stream_status
    if (status?.status === 'STARTED') open.add(status.stream_descriptor.name)
    const name = record?.stream ?? state?.stream?.stream_descriptor.name
    if (name !== undefined && !open.has(name))
      faults.add(`${name} has a ${record ? 'record' : 'state'} outside of its run`)
    if (status?.status === 'COMPLETE' || status?.status === 'INCOMPLETE')
      open.delete(status.stream_descriptor.name)
  }
  return [...faults]
}

/** At least one state per stream, none of the old or global forms (CAT, CDK). */
export function statesAreThere(transcript: Transcript, streams: Streams): string[] {
  const missing = streams
    .filter(({ name }) => statesOf(transcript, name).length === 0)
    .map(({ name }) => `${name} has no state`)
  const names = streams.map(({ name }) => name)
  const odd = statesOf(transcript).flatMap(({ type, stream }) => {
    if (type !== 'STREAM' || stream === undefined)
      return [`a state of the type ${type ?? 'LEGACY'}`]
    const { name } = stream.stream_descriptor
    return names.includes(name) ? [] : [`a state of the unknown ${name}`]
  })
  return [...missing, ...odd]
}

/** Each state counts the records of its stream since the one before it, and none comes too late. */
export function countsAreExact({ messages }: Transcript): string[] {
  const pending = new Map<string, number>()
  const faults: string[] = []
  for (const { record, state } of messages) {
    if (record !== undefined) pending.set(record.stream, (pending.get(record.stream) ?? 0) + 1)
    if (state?.stream === undefined) continue
    const { name } = state.stream.stream_descriptor
    const count = state.sourceStats?.recordCount
    const actual = pending.get(name) ?? 0
    if (count === undefined) faults.push(`${name} has a state without a count`)
    else if (count !== actual) faults.push(`${name} has a state of ${count} for ${actual} records`)
    pending.set(name, 0)
  }
  for (const [name, count] of pending)
    if (count > 0) faults.push(`${name} has ${count} records after its last state`)
  return faults
}

/** Two states with records between them differ, or a retry could not tell where it stands. */
export function statesMoveOn(transcript: Transcript, streams: Streams): string[] {
  return streams.flatMap(({ name }) => {
    const states = statesOf(transcript, name)
    return states.flatMap(({ stream, sourceStats }, i) => {
      const before = states[i - 1]?.stream?.stream_state
      const isSame = i > 0 && JSON.stringify(before) === JSON.stringify(stream?.stream_state)
      return isSame && (sourceStats?.recordCount ?? 0) > 0
        ? [`${name} repeats a state after ${sourceStats?.recordCount} records`]
        : []
    })
  })
}

/** RATE_LIMITED is a RUNNING with exactly one reason; SYNC and STREAM estimates do not mix. */
export function tracesAreWellFormed({ messages }: Transcript): string[] {
  const faults = messages.flatMap(({ trace }) => {
    const { status, reasons } = trace?.stream_status ?? {}
    if (!reasons?.length) return []
    return status === 'RUNNING' && reasons.length === 1 && reasons[0]?.['type'] === 'RATE_LIMITED'
      ? []
      : [`a ${status} with ${reasons.length} reasons`]
  })
  const estimates = new Set(messages.flatMap(({ trace }) => trace?.estimate?.type ?? []))
  return estimates.size > 1 ? [...faults, 'estimates of streams and of the sync'] : faults
}

export function heartbeatIsKept({ longestPause }: Transcript, limit = HEARTBEAT_SECONDS): string[] {
  return longestPause > limit ? [`nothing came for ${Math.round(longestPause)} s`] : []
}

/** The first failure decides whether the platform retries, so one that a retry cures comes first. */
export function retryableFailuresComeFirst(transcript: Transcript): string[] {
  const types = errorsOf(transcript).map(({ failure_type }) => failure_type ?? 'system_error')
  const lastRetryable = types.findLastIndex((type) => type !== 'config_error')
  const firstConfig = types.indexOf('config_error')
  return firstConfig >= 0 && firstConfig < lastRetryable
    ? ['a config_error comes before a failure that a retry would cure']
    : []
}

/** PyAirbyte stops at the first error, so errors wait until every stream has been read. */
export function errorsComeLast({ messages }: Transcript): string[] {
  const first = messages.findIndex(({ trace }) => trace?.error !== undefined)
  const late = messages.findLastIndex(({ record, state }) => record ?? state)
  return first >= 0 && late > first ? ['an error comes before records or states'] : []
}

/** Times of records are milliseconds of now. */
export function timesAreNow(transcript: Transcript): string[] {
  const now = Date.now()
  const odd = recordsOf(transcript).find(({ emitted_at: at }) => Math.abs(now - at) > 3_600_000)
  return odd === undefined ? [] : [`${odd.stream} has a record of ${odd.emitted_at}`]
}
