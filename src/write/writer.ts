import type { WriteSettings } from '../config/write-settings.ts'
import type { ConnectorError } from '../ground/errors.ts'
import { createInputKeys } from './input-keys.ts'
import { type ObjectName, objects, type WriteRecord } from './objects.ts'
import { createOutcomeReporter, type Outcome, type OutcomeCounts, refusalOf } from './outcome.ts'
import { createServiceCache } from './service-cache.ts'
import { createTaskPool } from './task-pool.ts'
import { CONCURRENCY, writeBatch } from './write-batch.ts'
import { type WriteClient, withoutWrites } from './write-client.ts'

/**
 * A record with its members under the names that are wanted: databases fold the case of columns, and people
 * write them with underscores (`internalreference`, `INTERNAL_REFERENCE`). A member that has a wanted name
 * already wins.
 */
export function withNames(
  data: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  const wanted = new Map(names.map((name) => [folded(name), name]))
  const renamed = Object.entries(data).map(([name, value]) => [
    wanted.get(folded(name)) ?? name,
    value,
  ])
  return { ...Object.fromEntries(renamed), ...data }
}

function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

/** Writes records in the order in which they are added; calls must not overlap. */
export interface Writer {
  /**
   * Takes one record, its members under any spelling that databases give their columns
   * (`internal_reference`, `INTERNALREFERENCE`); may wait until others are written. Its outcome is told at the latest before
   * `flush` resolves. Throws a ConnectorError for what must stop everything.
   */
  add(record: WriteRecord): Promise<void>
  /** Resolves when every record that was added has its final outcome. Throws as `add` does. */
  flush(): Promise<void>
  /**
   * Deletes what the service has beyond the records of an object, all of which have been added:
   * references of the collections and names that the records mention. Throws a config error, and
   * deletes nothing, when that is more than a fifth of what was there under one of the names. Needs
   * `mirror` in the settings.
   */
  mirror(object: ObjectName): Promise<void>
  readonly summary: WriteSummary
}

/** What a writer has done so far. */
interface WriteSummary {
  readonly counts: OutcomeCounts
  /** More records were rejected than `max_rejected` allows. */
  readonly isOverLimit: boolean
  /**
   * Objects that cannot be written at all, such as for a missing scope. Their records are rejected with
   * this reason: a state that follows them must not be confirmed.
   */
  readonly failures: ReadonlyMap<ObjectName, ConnectorError>
}

/** What a writer is made of. */
export interface WriterOptions {
  readonly client: WriteClient
  readonly settings: WriteSettings
  /** Told once for each record, by batch, and once for each deletion of the mirror. */
  readonly onOutcome: (outcome: Outcome) => void
  readonly signal: AbortSignal
  /** Whether outcomes show values of external references, which may name people. */
  readonly showValues?: boolean
  /** So many records are planned together: more take more memory, and are no faster. */
  readonly batchSize?: number
}

const BATCH_SIZE = 1000

/** Makes a writer; see Writer. What the service has is read once, when it is first needed. */
export function createWriter(options: WriterOptions): Writer {
  const { settings, signal, batchSize = BATCH_SIZE } = options
  const client = settings.dryRun ? withoutWrites(options.client) : options.client
  const cache = createServiceCache(client)
  const inputKeys = createInputKeys()
  const failures = new Map<ObjectName, ConnectorError>()
  const reporter = createOutcomeReporter({ ...options, isDryRun: settings.dryRun })
  const tools = { client, settings, cache, inputKeys, reporter, signal, failures }
  let batch: WriteRecord[] = []
  return {
    async add(record) {
      const members = Object.keys(objects[record.object].properties)
      batch.push({ ...record, data: withNames(record.data, members) })
      if (batch.length >= batchSize) await flush()
    },
    flush,
    mirror,
    summary: {
      counts: reporter.counts,
      get isOverLimit() {
        return reporter.counts.rejected > settings.maxRejected
      },
      failures,
    },
  }

  async function flush(): Promise<void> {
    const records = batch
    batch = []
    await writeBatch(records, tools)
  }

  async function mirror(object: ObjectName): Promise<void> {
    if (!settings.mirror) throw new Error('The writer was not made for a mirror.')
    await flush()
    if (object !== 'external_references' || failures.has(object)) return
    const surplus = await inputKeys.surplus(cache)
    await createTaskPool(CONCURRENCY, signal).each(surplus, async ({ links, ...key }) => {
      try {
        const outcome = await client.references.remove(key.collection, key.name, key.value)
        links.unlink(key.value)
        reporter.report(object, undefined, key, { outcome })
      } catch (error) {
        reporter.report(object, undefined, key, refusalOf(error))
      }
    })
  }
}
