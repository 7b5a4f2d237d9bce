/** What happens to a field. */
export type FieldAction = 'keep' | 'drop' | 'hash' | 'null'

/** An exception to the mode, from the setting `field_rules`. */
export interface FieldRule {
  /** The name of a stream; `*` matches any text. */
  readonly stream: string
  /** The names of members from the record inwards, joined by dots; `*` matches any text within one name. */
  readonly path: string
  readonly rule: FieldAction
  /** Whether the rule is meant for a field that the schemas do not have. */
  readonly unknown?: boolean
}

/** The rules for the fields of one stream. */
export interface FieldPatterns {
  /**
   * The action of the last rule that matches a path or an object around it; undefined if none does. A rule with a `*`
   * that keeps does not match the path of a secret.
   */
  actionOf(path: readonly string[], isSecret?: boolean): FieldAction | undefined
  /**
   * Whether the last rule that matches `path` or an object around it comes after the last one that matches `other`.
   */
  isLater(path: readonly string[], other: readonly string[]): boolean
  /** Whether the last rule that matches a path is for the path itself, not for an object around it. */
  isExact(path: readonly string[]): boolean
  /** Whether a rule may match a path inside of this one. */
  reachesInto(path: readonly string[]): boolean
  /** The rules of this stream, each as its path and its action. */
  readonly texts: readonly string[]
}

/** The rules that match a stream. If several match a field, the last one counts. */
export function patternsOf(stream: string, rules: readonly FieldRule[]): FieldPatterns {
  const patterns = rules
    .filter((rule) => fits(rule.stream, stream))
    .map(({ stream: of, path, rule }) => {
      const keepsMany = rule === 'keep' && `${of}${path}`.includes('*')
      return { path: path.split('.'), rule, keepsMany }
    })
  const lastOf = (path: readonly string[], isSecret = false) =>
    patterns.findLastIndex(
      (one) =>
        one.path.length <= path.length &&
        !(isSecret && one.keepsMany) &&
        beginsAlike(one.path, path),
    )
  return {
    texts: patterns.map(({ path, rule }) => `${path.join('.')} ${rule}`),
    actionOf: (path, isSecret) => patterns[lastOf(path, isSecret)]?.rule,
    isExact: (path) => patterns[lastOf(path)]?.path.length === path.length,
    isLater: (path, other) => lastOf(path) > lastOf(other),
    reachesInto: (path) =>
      patterns.some((one) => one.path.length > path.length && beginsAlike(one.path, path)),
  }
}

/** Whether a pattern and a path match in all parts that both have. */
function beginsAlike(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.every((part, i) => path[i] === undefined || fits(part, path[i]))
}

/** Whether a name matches a pattern in which `*` matches any text. The first place where a part fits is always right. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - at >= last.length && name.endsWith(last)
}
