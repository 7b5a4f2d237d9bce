import { groupBy } from './group-by.ts'
import type { Links } from './links.ts'
import type { ReferenceChange } from './plan-references.ts'

/**
 * The changes in groups that have no value and no record in common, neither by what they ask for nor by
 * the links that are in their way. Each group can be applied without the others.
 */
export function independentChanges(
  changes: readonly ReferenceChange[],
  links: Links,
): ReferenceChange[][] {
  const parents = new Map<string, string>()
  for (const { value, id } of changes) {
    const [linkedId, otherValue] = [links.idOf(value), id && links.valueOfId(id)]
    if (linkedId !== undefined) join(ofValue(value), ofId(linkedId))
    if (id !== undefined) join(ofValue(value), ofId(id))
    if (otherValue !== undefined) join(ofValue(value), ofValue(otherValue))
  }
  return groupBy(changes, ({ value }) => rootOf(ofValue(value)))

  function join(a: string, b: string): void {
    const [rootA, rootB] = [rootOf(a), rootOf(b)]
    if (rootA !== rootB) parents.set(rootA, rootB)
  }

  function rootOf(node: string): string {
    let root = node
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root))
      root = parent
    // What is looked up again is found at once.
    for (let at = node; at !== root; ) {
      const next = parents.get(at) ?? root
      parents.set(at, root)
      at = next
    }
    return root
  }
}

function ofValue(value: string): string {
  return `value ${value}`
}

function ofId(id: string): string {
  return `id ${id}`
}
