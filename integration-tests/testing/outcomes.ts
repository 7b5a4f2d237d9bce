import type { AirbyteRun } from './run.ts'

/** The last status of each stream of a run. */
export function outcomes({ messages }: Pick<AirbyteRun, 'messages'>): Record<string, string> {
  return Object.fromEntries(
    messages.flatMap(({ trace }) => {
      const status = trace?.stream_status
      return status === undefined ? [] : [[status.stream_descriptor.name, status.status]]
    }),
  )
}
