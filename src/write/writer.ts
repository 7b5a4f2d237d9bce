import type { WriteSettings } from '../config/write-settings.ts'
import type { ConnectorError } from '../ground/errors.ts'
import { createInputKeys, type Surplus } from './input-keys.ts'
import type { ObjectName, WriteRecord } from './objects.ts'
import { createOutcomeReporter, type Outcome, type OutcomeSummary, refusalOf } from './outcome.ts'
import { unknownInWords, unknownMembers, withNames } from './record-members.ts'
import { createServiceCache } from './service-cache.ts'
import { createTaskPool } from './task-pool.ts'
import { CONCURRENCY, writeBatch } from './write-batch.ts'
import { endedByRefusals, type WriteClient, withoutWrites } from './write-client.ts'

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
   * deletes nothing, when the run would take away more than `max_deletes` allows under one of the names, or when a
   * record could not be read; a dry run tells first what would go. Needs `mirror` in the settings.
   */
  mirror(object: ObjectName): Promise<void>
  readonly summary: WriteSummary
}

/** What a writer has done so far. */
interface WriteSummary extends OutcomeSummary {
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
  /** Told once of each member that no object has; if left out, records with one are rejected. */
  readonly onUnknownMember?: (object: ObjectName, words: string) => void
}

const BATCH_SIZE = 1000

/** Makes a writer; see Writer. What the service has is read once, when it is first needed. */
export function createWriter(options: WriterOptions): Writer {
  const { settings, signal, batchSize = BATCH_SIZE, onUnknownMember } = options
  const client = settings.dryRun ? withoutWrites(options.client) : options.client
  const clients = {
    external_references: endedByRefusals(client),
    job_categories: endedByRefusals(client),
    work_locations: endedByRefusals(client),
  }
  const cache = createServiceCache(client)
  const inputKeys = createInputKeys(settings.maxDeletes)
  const failures = new Map<ObjectName, ConnectorError>()
  const reporter = createOutcomeReporter({ ...options, isDryRun: settings.dryRun })
  const tools = { clients, settings, cache, inputKeys, reporter, signal, failures }
  const toldMembers = new Set<string>()
  let batch: WriteRecord[] = []
  return {
    async add(record) {
      batch.push(named(record))
      if (batch.length >= batchSize) await flush()
    },
    flush,
    mirror,
    summary: { ...reporter.summary, failures },
  }

  function named(record: WriteRecord): WriteRecord {
    if (record.fault !== undefined) return record
    const reading = withNames(record.data, record.object)
    if ('fault' in reading) return { ...record, fault: reading.fault }
    const { data } = reading
    const unknown = unknownMembers(data, record.object)
    if (unknown.length === 0) return { ...record, data }
    if (onUnknownMember === undefined) return { ...record, fault: unknownInWords(unknown) }
    const untold = unknown.filter(({ name }) => !toldMembers.has(`${record.object} ${name}`))
    for (const { name } of untold) toldMembers.add(`${record.object} ${name}`)
    if (untold.length > 0) onUnknownMember(record.object, unknownInWords(untold))
    return { ...record, data }
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
    const { surplus, refusal } = await inputKeys.surplus(cache)
    if (refusal === undefined || settings.dryRun) await removeAll(surplus)
    if (refusal !== undefined) throw refusal
  }

  async function removeAll(surplus: readonly Surplus[]): Promise<void> {
    const { references } = clients.external_references
    await createTaskPool(CONCURRENCY, signal).each(surplus, async (one) => {
      const { collection, name, value, internalReference, links } = one
      const key = { collection, name, value, ...(internalReference && { internalReference }) }
      try {
        const outcome = await references.remove(collection, name, value)
        links.unlink(value)
        reporter.report('external_references', undefined, key, { outcome })
      } catch (error) {
        reporter.report('external_references', undefined, key, refusalOf(error))
      }
    })
  }
}
