import { ClientError } from '../client/client-error.ts'
import { groupBy } from './group-by.ts'
import type { Lanes } from './lanes.ts'
import { fieldsOf, isEqual, mergeNamed, nameOf } from './merge-named.ts'
import type { Verdict } from './outcome.ts'
import type { WantedNamed } from './read-named.ts'
import { refusalOf } from './refusal.ts'
import type { WriteClient } from './write-client.ts'

/** What one record asks for. */
export interface NamedChange {
  readonly ordinal: number
  readonly wanted: WantedNamed
}

export interface JobCategoryTools {
  readonly client: WriteClient
  readonly lanes: Lanes
  readonly missingFields: 'keep' | 'empty'
  /** Told once for each record, when its verdict is final. */
  readonly settle: (ordinal: number, verdict: Verdict) => void
}

/** Reads each job category, merges the record with it, and writes it whole where they differ. */
export async function applyJobCategories(
  changes: readonly NamedChange[],
  tools: JobCategoryTools,
): Promise<void> {
  const { client, lanes, missingFields, settle } = tools
  await lanes.each(inOrderOfKey(changes), async (sequence) => {
    for (const { ordinal, wanted } of sequence) settle(ordinal, await change(wanted))
  })

  async function change(wanted: WantedNamed): Promise<Verdict> {
    const { defaultName } = wanted
    if (defaultName === '' || (defaultName === undefined && missingFields === 'empty'))
      return NAMELESS
    try {
      return await mergeAndPut(wanted)
    } catch (error) {
      return refusalOf(error)
    }
  }

  async function mergeAndPut(wanted: WantedNamed, isSecond = false): Promise<Verdict> {
    const { key } = wanted
    const found = await client.jobCategories.get(key)
    if (found === undefined) return UNKNOWN
    const { record, etag } = found
    const current = fieldsOf({ name: record.name, text: record.externalCode })
    const merged = mergeNamed(current, wanted, missingFields)
    if (merged.defaultName === '') return NAMELESS
    // What was put and answered by 412 may be ours: the answer to the first attempt was lost then.
    if (isEqual(current, merged)) return { outcome: isSecond ? 'written' : 'skipped' }
    const body = { name: nameOf(merged), ...(merged.text !== '' && { externalCode: merged.text }) }
    try {
      await client.jobCategories.put(key, body, etag)
    } catch (error) {
      if (etag !== undefined && !isSecond && isOutdated(error)) return mergeAndPut(wanted, true)
      throw error
    }
    return { outcome: 'written' }
  }
}

/** Somebody else wrote it since it was read; the documents name 409 for it, HTTP 412. */
function isOutdated(error: unknown): boolean {
  return error instanceof ClientError && (error.status === 412 || error.status === 409)
}

const NAMELESS: Verdict = { outcome: 'rejected', reason: 'The record has no name.default.' }
const UNKNOWN: Verdict = {
  outcome: 'rejected',
  status: 404,
  reason: 'There is no job category with this key, and this API cannot create one.',
}

/**
 * The changes as sequences that may run side by side. Keys of one kind name different records if they
 * differ; an id and a reference may name the same one, so that mixed changes are one sequence.
 */
function inOrderOfKey(changes: readonly NamedChange[]): readonly (readonly NamedChange[])[] {
  const kinds = new Set(changes.map(({ wanted: { key } }) => ('id' in key ? '' : key.name)))
  if (kinds.size > 1) return [changes]
  return groupBy(changes, ({ wanted: { key } }) => ('id' in key ? key.id : key.value))
}
