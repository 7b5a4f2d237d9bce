import { foldedMost } from '../ground/folded-text.ts'
import { refusalOf } from './outcome.ts'
import type { ReferenceChange } from './plan-references.ts'
import { canonicalId } from './read-record.ts'
import type { CachedLinks } from './service-cache.ts'
import type { WriteClient } from './write-client.ts'

/** What a value names, and how the service has it; `unanswered` where it does not tell. */
export type FoundReference =
  | { readonly id: string; readonly value: string }
  | 'unanswered'
  | undefined

/** Asks for one value. Throws what ends the object. */
export async function lookUpReference(
  { references }: WriteClient,
  collection: string,
  name: string,
  value: string,
): Promise<FoundReference> {
  try {
    const found = await references.get(collection, name, value)
    if (found === undefined) return undefined
    if (found.internalReference === null) return 'unanswered'
    return { id: canonicalId(collection, found.internalReference), value: found.value }
  } catch (error) {
    refusalOf(error)
    return 'unanswered'
  }
}

/** Whether texts differ in case and in blanks, and in nothing else. */
export function differInForm(a: string, b: string): boolean {
  return a !== b && foldedMost(a) === foldedMost(b)
}

interface FoldingTools {
  readonly client: WriteClient
  readonly collection: string
  readonly name: string
  readonly links: CachedLinks
}

/**
 * Asks for the first value that the service seems to have in another form, in case or in blanks, for the same record:
 * its answer tells whether it takes both for one. Else such values would be linked anew by every run.
 */
export async function learnFolding(
  changes: readonly ReferenceChange[],
  { client, collection, name, links }: FoldingTools,
): Promise<void> {
  for (const { value, id } of changes) {
    if (id === undefined || links.idOf(links.spelled(value)) !== undefined) continue
    const there = links.valueOfId(id)
    if (there === undefined || !differInForm(there, value)) continue
    const found = await lookUpReference(client, collection, name, value)
    // The list does not have it: what is found is what the list has.
    if (found === 'unanswered' || found?.id !== id) return
    links.takeForOne(value, there)
  }
}
