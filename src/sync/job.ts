import type { Treatment } from '../privacy/treatment.ts'
import type { ReadJob } from '../protocol/connector.ts'
import type { StreamOutput } from '../protocol/stream-output.ts'
import type { Stream } from '../streams/collection.ts'

/** A stream as the catalog asks for it, with what an earlier sync left. */
export interface Job {
  readonly stream: Stream
  readonly mode: 'full_refresh' | 'incremental'
  /** The stored state of the stream, unchecked. */
  readonly state: unknown
  /** See `ReadJob.startOver`. */
  readonly startOver?: ReadJob['startOver']
  /** How the personal data of its records is treated. */
  readonly treatment: Pick<Treatment, 'rules' | 'fingerprint'>
}

/** A job with the protocol's end of its stream. */
export interface Task {
  readonly job: Job
  readonly output: StreamOutput
}

/** Whether reading it starts or follows a delta. */
export function isDelta({ job }: Task): boolean {
  return job.stream.replication === 'delta' && job.mode === 'incremental'
}

/** Streams without a delta first: a short run then ends before it has touched one. */
export function inOrder(tasks: readonly Task[]): Task[] {
  return [...tasks].sort((a, b) => Number(isDelta(a)) - Number(isDelta(b)))
}

/** Holds deltas back; `passed` resolves when they may start. */
export interface DeltaBarrier {
  readonly passed: Promise<void>
  finished(task: Task): void
}

/**
 * A barrier that opens when a record has been written, or no stream without a delta is left:
 * whoever only tests for a first record (`meltano config test`) must not start a delta.
 */
export function createDeltaBarrier(tasks: readonly Task[]): DeltaBarrier {
  const lists = new Set(tasks.filter((task) => !isDelta(task)))
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  if (lists.size === 0) open()
  for (const { output } of lists) output.onRecord(open)
  return {
    passed,
    finished(task) {
      lists.delete(task)
      if (lists.size === 0) open()
    },
  }
}
