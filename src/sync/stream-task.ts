import type { Redaction } from '../privacy/redaction.ts'
import type { StreamOutput, StreamRequest } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'

/** A stream to read, with its stored state and its output. */
export interface StreamTask
  extends Pick<StreamRequest, 'mode' | 'startOver' | 'refresh' | 'byLists'> {
  readonly stream: Stream
  /** The stored state of the stream, unchecked. */
  readonly storedState: unknown
  /** The treatment of personal data in its records. */
  readonly redaction: Pick<Redaction, 'rules' | 'rulesOf' | 'fingerprint'>
  /** The paths of the fields that its records may have; undefined if any are allowed. */
  readonly fields: readonly string[] | undefined
  readonly output: StreamOutput
  /** Counts its requests, including repeated ones. */
  readonly requests: { count: number }
}

/** Whether reading it starts or follows a delta. */
export function isDelta({ stream, mode }: StreamTask): boolean {
  return stream.replication === 'delta' && mode === 'incremental'
}

/** Streams without a delta come first, so that a short run ends before it starts a delta. */
export function inOrder(tasks: readonly StreamTask[]): StreamTask[] {
  return [...tasks].sort((a, b) => Number(isDelta(a)) - Number(isDelta(b)))
}

/** Holds back deltas; `passed` resolves when they may start. */
export interface DeltaBarrier {
  readonly passed: Promise<void>
  finished(task: StreamTask): void
}

/**
 * Creates a barrier that opens when a record has been written, or when all streams without a delta have been read. A
 * program that only waits for a first record (`meltano config test`) must not start a delta.
 */
export function createDeltaBarrier(tasks: readonly StreamTask[]): DeltaBarrier {
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
