import { changeJobCategory, keptInWords } from './change-job-category.ts'
import { refusalOf, type Verdict } from './outcome.ts'
import { type ByReference, NAMELESS, type WantedNamed } from './read-record.ts'
import { groupBy, type TaskPool } from './task-pool.ts'
import type { WriteClient } from './write-client.ts'

/** What one record asks for. */
export interface NamedChange {
  readonly ordinal: number
  readonly wanted: WantedNamed
}

/** What changes of job categories are applied with. */
export interface JobCategoryTools {
  readonly client: WriteClient
  readonly pool: TaskPool
  readonly missingFields: 'keep' | 'empty'
  /** Told once for each record, when its verdict is final. */
  readonly settle: (ordinal: number, verdict: Verdict) => void
}

/** Reads each job category, merges the record with it, and writes it whole where they differ. */
export async function applyJobCategories(
  changes: readonly NamedChange[],
  tools: JobCategoryTools,
): Promise<void> {
  const { client, pool, missingFields, settle } = tools
  await pool.each(inOrderOfKey(changes), async (sequence) => {
    for (const { ordinal, wanted } of sequence) settle(ordinal, await change(wanted))
  })

  async function change(wanted: WantedNamed): Promise<Verdict> {
    const { defaultName } = wanted
    // Known without a request.
    if (defaultName === '' || (defaultName === undefined && missingFields === 'empty'))
      return NAMELESS
    try {
      for (const reference of wanted.also) {
        const other = await idOf(reference)
        if (other === undefined || ('id' in wanted.key && other === wanted.key.id)) continue
        return contradiction(reference.name)
      }
      const change = await changeJobCategory(client.jobCategories, wanted, missingFields)
      switch (change.outcome) {
        case 'absent':
          return ABSENT
        case 'nameless':
          return NAMELESS
        case 'kept':
          return { outcome: 'rejected', reason: keptInWords(change.kept) }
        default:
          return { outcome: change.outcome, ...(change.isFolded && { folded: true }) }
      }
    } catch (error) {
      return refusalOf(error)
    }
  }

  async function idOf(reference: ByReference): Promise<string | undefined> {
    return (await client.jobCategories.get(reference))?.record.id
  }
}

function contradiction(name: string): Verdict {
  return {
    outcome: 'rejected',
    reason: `The id and the external reference ${name} name different job categories. Leave out the one that is wrong.`,
  }
}

const ABSENT: Verdict = {
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
