import { ClientError } from '../client/client-error.ts'
import type { JobCategories, JobCategoryBody } from '../client/service-client.ts'
import { fieldsOf, isEqual, mergeNamed, nameOf } from './merge-named.ts'
import type { WantedNamed } from './read-named.ts'

/** What became of a job category, and what it has now; `absent`: there is none with the key. */
export type JobCategoryChange =
  | { readonly outcome: 'absent' | 'nameless' }
  | { readonly outcome: 'written' | 'skipped'; readonly id: string; readonly body: JobCategoryBody }

/**
 * Reads a job category, merges what is wanted with it, and puts it whole where they differ: a PUT empties
 * what it leaves out. Reads and merges once more where somebody else wrote it in between. A job category
 * that would lose its name is left as it is (`nameless`). Throws what the client throws.
 */
export async function changeJobCategory(
  jobCategories: Pick<JobCategories, 'get' | 'put'>,
  wanted: WantedNamed,
  missingFields: 'keep' | 'empty',
): Promise<JobCategoryChange> {
  const { key } = wanted
  return attempt(false)

  async function attempt(isSecond: boolean): Promise<JobCategoryChange> {
    const found = await jobCategories.get(key)
    if (found === undefined) return { outcome: 'absent' }
    const { record, etag } = found
    const current = fieldsOf({ name: record.name, text: record.externalCode })
    const merged = mergeNamed(current, wanted, missingFields)
    if (merged.defaultName === '') return { outcome: 'nameless' }
    const { id } = record
    const body = { name: nameOf(merged), ...(merged.text !== '' && { externalCode: merged.text }) }
    // What was put and answered by 412 may be ours: the answer to the first attempt was lost then.
    if (isEqual(current, merged)) return { outcome: isSecond ? 'written' : 'skipped', id, body }
    try {
      await jobCategories.put(key, body, etag)
    } catch (error) {
      if (etag !== undefined && !isSecond && isOutdated(error)) return attempt(true)
      throw error
    }
    return { outcome: 'written', id, body }
  }
}

/** Somebody else wrote it since it was read; the documents name 409 for it, HTTP 412. */
function isOutdated(error: unknown): boolean {
  return error instanceof ClientError && (error.status === 412 || error.status === 409)
}
