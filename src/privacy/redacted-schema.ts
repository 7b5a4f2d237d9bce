import type { JsonSchema } from '../records/stream-spec.ts'

/** The schema of a hashed field: values become strings, and an object keeps its members. */
export function pseudonym(node: JsonSchema): JsonSchema {
  const types = [node['type']].flat()
  // A hash cannot be shown as a date.
  const { 'x-view': _, ...said } = withSentence(node, 'Replaced by a keyed hash.')
  if (types.includes('object')) return said
  return { ...said, type: types.includes('null') ? ['string', 'null'] : 'string' }
}

/** Adds a sentence to the description of a field. */
export function withSentence(node: JsonSchema, sentence: string): JsonSchema {
  return { ...node, description: `${node['description'] ?? ''} ${sentence}`.trim() }
}

/** Removes the keywords that only this folder reads. */
export function withoutPrivacy({
  'x-privacy': _,
  'x-meaning': __,
  ...node
}: JsonSchema): JsonSchema {
  return node
}
