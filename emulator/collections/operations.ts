import type { ResolvedOptions } from '../options.ts'
import { collections } from './collections.ts'

/** The kinds of read request that a collection may offer. */
export type Operation = 'list' | 'single' | 'delta'

type Dialect = ResolvedOptions['dialect']

// The endpoints of the specification; all others are only in the documentation.
const specified: Readonly<Record<Operation, readonly string[]>> = {
  list: ['employers', 'work-locations', 'shift-definitions'],
  single: ['access-clockings', 'departments', 'job-categories'],
  delta: ['access-clockings', 'departments', 'employers', 'jobs', 'shift-definitions'],
}

/** Whether the dialect has this operation for the collection. */
export function offers(dialect: Dialect, operation: Operation, collection: string): boolean {
  const facts = collections[collection]
  if (!facts) return false
  if (dialect === 'specification') return specified[operation].includes(collection)
  if (operation === 'list') return true
  return operation === 'delta' ? facts.delta : facts.single !== 'none'
}

/**
 * Middle parts of the scopes that open a collection. In the specification it is always the name.
 */
export function scopesOf(dialect: Dialect, collection: string): readonly string[] {
  if (dialect === 'specification') return [collection]
  return collections[collection]?.scopes ?? [collection]
}

/**
 * The middle parts of the scope names of all that can be read. Webhooks are not among them, nor is
 * the general `all`. The specification names terminals as a collection, though nothing lists them.
 */
export function scopeNames(dialect: Dialect): string[] {
  const names = Object.keys(collections).flatMap((name) => scopesOf(dialect, name))
  const more = dialect === 'specification' ? ['terminals'] : []
  return [...new Set([...names, ...more, 'external-references'])]
}
