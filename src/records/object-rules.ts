/** What becomes of one member: it stays as it is, is left out, or is written anew. */
export type MemberRule = 'keep' | 'drop' | ValueReplacement | ObjectRules

/** The new JSON text of a value whose JSON text is given. */
export type ValueReplacement = (json: string) => string

/**
 * What becomes of the members of an object, or of each object in a list. `ruleOf` answers the same for the same name;
 * a scanner asks once per name, more or less.
 */
export interface ObjectRules {
  readonly ruleOf: (name: string) => MemberRule
  /** What becomes of anything that stands there and is no object. */
  readonly values: 'keep' | ValueReplacement
}
