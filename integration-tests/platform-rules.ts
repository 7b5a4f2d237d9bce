import type { Message } from './airbyte-message.ts'

/** What of a run the platform looks at. */
export interface Judged {
  readonly exitCode: number | null
  readonly messages: readonly Message[]
}

/**
 * The rules that the platform applies to a `read` beyond the protocol's definition: counts of
 * states, order of statuses, records of known streams only, exit code. One sentence a fault.
 */
export function platformFaults(
  { exitCode, messages }: Judged,
  streams: readonly string[],
): string[] {
  const faults: string[] = []
  for (const stream of streams) faults.push(...streamFaults(stream, messages))
  for (const { type, record, trace } of messages) {
    if (!['RECORD', 'STATE', 'TRACE', 'LOG', 'CONTROL'].includes(type))
      faults.push(`${type} in a read`)
    if (record !== undefined && !streams.includes(record.stream)) {
      faults.push(`a record of ${record.stream}, which is not in the catalog`)
    }
    if (record !== undefined && Object.keys(record.data).length === 0)
      faults.push('an empty record')
    if (trace !== undefined && !(trace.emitted_at > 0)) faults.push('a trace without a time')
  }
  const isFailed = messages.some(({ trace }) => trace?.error !== undefined)
  if (isFailed !== (exitCode !== 0))
    faults.push(`exit code ${exitCode} with ${isFailed ? '' : 'no '}errors`)
  return faults
}

function streamFaults(stream: string, messages: readonly Message[]): string[] {
  const faults: string[] = []
  const statuses: string[] = []
  let pending = 0
  let states = 0
  for (const { record, state, trace } of messages) {
    if (record?.stream === stream) pending++
    if (state?.stream.stream_descriptor.name === stream) {
      states++
      if (state.type !== 'STREAM') faults.push(`${stream}: a state of type ${state.type}`)
      if (state.sourceStats.recordCount !== pending) {
        faults.push(
          `${stream}: a state counts ${state.sourceStats.recordCount} of ${pending} records`,
        )
      }
      pending = 0
    }
    const status = trace?.stream_status
    if (status?.stream_descriptor.name === stream) statuses.push(status.status)
  }
  const order = statuses.join(' ')
  if (!/^STARTED( RUNNING)* (COMPLETE|INCOMPLETE)$/.test(order))
    faults.push(`${stream}: statuses ${order}`)
  if (/ COMPLETE$/.test(order)) {
    if (!order.includes('RUNNING')) faults.push(`${stream}: complete without RUNNING`)
    if (states === 0) faults.push(`${stream}: complete without a state`)
    if (pending > 0) faults.push(`${stream}: ${pending} records after the last state`)
  }
  return faults
}
