import { createHash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { type Day, earlier } from '../ground/days.ts'
import type { Endpoints } from '../http/endpoints.ts'
import { referencePairs } from '../pages/slices.ts'
import { createSuppression } from '../pages/suppression.ts'
import type { Redaction } from '../privacy/redaction.ts'
import type { StreamOutput, StreamRequest } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'
import { firstRead } from './delta-window.ts'

/** A stream to read, with its stored state and its output. */
export interface StreamTask
  extends Pick<StreamRequest, 'mode' | 'startOver' | 'refresh' | 'byLists' | 'selection'> {
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

/** What a decision depends on. */
export interface DecisionSettings {
  readonly config: Config
  readonly endpoints: Endpoints
  /** The service's time. */
  readonly now: Date
}

/** What the records of a stream depend on, and their first day. */
export interface Identity {
  /** The service that the warehouse is a copy of. */
  readonly service: string
  readonly environment: string
  /** See `StoredState.settings`. */
  readonly settings: string
  /** The first day; null for streams without dates. */
  readonly start: Day | null
}

/** See `Identity`. */
export function identityOf(
  { stream, redaction, byLists }: StreamTask,
  settings: DecisionSettings,
): Identity {
  const { config, endpoints } = settings
  const { origin, mount, prefix } = endpoints
  // Sorted, so that the order in the configuration does not matter.
  const references = referencePairs(stream, config)
    .map(([collection, name]) => JSON.stringify([collection, name]))
    .sort()
  const structures = stream.nested === 'activity_structures' ? config.activityStructures : []
  // Without redaction, the digest is the same as in states from before there was any.
  const redacted = redaction.fingerprint === '' ? [] : [redaction.fingerprint]
  const { fingerprint } = createSuppression(stream, config)
  return {
    service: `${ofTenant(config.tenant)}${origin}${mount}${prefix}`,
    environment: config.environment,
    settings: [JSON.stringify([references, structures, ...redacted]), fingerprint]
      .filter((one) => one !== '')
      .map((one) => createHash('sha256').update(one).digest('hex').slice(0, DIGEST))
      .join(''),
    start: earlier(
      stream.dateField ? firstRead(stream.stream, config, settings.now) : null,
      byLists?.from ?? null,
    ),
  }
}

/** The length of each digest in the settings of a state. */
const DIGEST = 16

/** Whether a change of settings may give all rows other keys; people who are left out change none. */
export function mayChangeKeys(before: string, after: string): boolean {
  return before.slice(0, DIGEST) !== after.slice(0, DIGEST)
}

function ofTenant(tenant: string): string {
  return `${tenant} at `
}

/**
 * Whether the state belongs to another tenant. A tenant with a new address is the same one; the same name in another
 * environment is another one.
 */
export function isOfOtherTenant(
  stored: Pick<Identity, 'service'> & { readonly environment: string | null },
  identity: Identity,
  { config }: DecisionSettings,
): boolean {
  if (stored.service === identity.service)
    return stored.environment !== null && stored.environment !== identity.environment
  return (
    stored.environment !== identity.environment ||
    !stored.service.startsWith(ofTenant(config.tenant))
  )
}

/** Whether reading it starts or follows a delta. */
export function isDelta({ stream, mode }: StreamTask): boolean {
  return stream.replication === 'delta' && mode === 'incremental'
}

/** Streams without a delta come first, so that a short run ends before it starts a delta. */
export function inOrder<T extends StreamTask>(tasks: readonly T[]): T[] {
  return [...tasks].sort((a, b) => Number(isDelta(a)) - Number(isDelta(b)))
}

/**
 * Creates a barrier that opens when a record has been written, or when all streams without a delta have been read. A
 * program that only waits for a first record (`meltano config test`) must not start a delta. `passed` resolves when
 * deltas may start.
 */
export function createDeltaBarrier(tasks: readonly StreamTask[]) {
  const lists = new Set(tasks.filter((task) => !isDelta(task)))
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  if (lists.size === 0) open()
  for (const { output } of lists) output.onFirstRecord(open)
  return {
    passed,
    finished(task: StreamTask) {
      lists.delete(task)
      if (lists.size === 0) open()
    },
  }
}
