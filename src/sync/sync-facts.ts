import type { Config } from '../config/config.ts'
import type { Session } from '../http/session.ts'
import type { StreamStart, SyncFacts } from '../protocol/progress/sync-observer.ts'
import { type Decision, decide } from './decision.ts'
import { streamStart } from './stream-start.ts'
import type { Task } from './task.ts'

/** What is known of the sync before its first request. */
export function factsOf(
  tasks: readonly Task[],
  { client, clock, endpoints }: Session,
  config: Config,
): SyncFacts {
  const now = clock.now()
  return {
    subject: `tenant ${config.tenant}`,
    labels: { tenant: config.tenant },
    streams: tasks.map(({ job, output: { counts } }) => {
      const decision = decide(job, { config, endpoints, now })
      return { name: job.stream.stream, start: startOf(decision), counts }
    }),
    traffic: client.traffic,
    trouble: () => client.trouble?.reason,
  }
}

function startOf(decision: Decision): StreamStart {
  return decision.do === 'begin'
    ? streamStart(undefined, decision.why)
    : streamStart(decision.stored, decision.startOver?.why)
}
