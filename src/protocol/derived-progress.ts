import type { ConnectorError } from '../ground/errors.ts'
import type { RowCounts, StreamRequest, StreamStart, SyncObserver } from './connector.ts'

/** Derives the progress of a sync from the calls to its outputs, for a source that does not report it. */
export interface DerivedProgress {
  /** The observer to pass to the source. Once the source calls `begun`, nothing is derived any more. */
  readonly observer: SyncObserver
  started(stream: string): void
  /** Called once for each stream; without an error, the stream is complete. */
  ended(stream: string, error?: ConnectorError): void
}

/** Nothing is known of the requests of these sources. */
const NO_TRAFFIC = { requests: 0, retries: 0, refusals: 0, bytes: 0, answerMs: 0 }

/** Creates the progress of a sync of these streams, which is reported to `observer`. */
export function createDerivedProgress(
  observer: SyncObserver,
  streams: readonly (Pick<StreamRequest, 'name' | 'mode' | 'state'> & {
    readonly output: { readonly counts: RowCounts }
  })[],
): DerivedProgress {
  const starts = new Map(streams.map((stream) => [stream.name, startOf(stream)]))
  const running = new Set<string>()
  let reporter: 'nobody' | 'source' | 'outputs' = 'nobody'
  return {
    observer: {
      ...observer,
      begun(facts) {
        reporter = 'source'
        observer.begun(facts)
      },
    },
    started(name) {
      if (reporter === 'nobody') begin()
      const start = starts.get(name)
      if (reporter !== 'outputs' || start === undefined) return
      running.add(name)
      observer.started(name, start)
    },
    ended(name, error) {
      if (reporter === 'outputs' && running.delete(name)) observer.ended(name, error)
    },
  }

  function begin(): void {
    reporter = 'outputs'
    observer.begun({
      subject: '',
      labels: {},
      streams: streams.map(({ name, output }) => ({ name, counts: output.counts })),
      traffic: NO_TRAFFIC,
      retryCause: () => undefined,
    })
  }
}

function startOf({ mode, state }: Pick<StreamRequest, 'mode' | 'state'>): StreamStart {
  if (mode === 'full_refresh') return { kind: 'whole', how: 'full refresh' }
  return state === undefined
    ? { kind: 'begins', how: 'from the beginning: first sync' }
    : { kind: 'changes', how: 'incremental' }
}
