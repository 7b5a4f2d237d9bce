import type { FieldAction, FieldRule } from './privacy-settings.ts'

/** Rules for the fields of one stream. */
export interface FieldPatterns {
  /** What the last rule says that fits a path or an object around it; undefined when none does. */
  actionOf(path: readonly string[]): FieldAction | undefined
  /** Whether a rule may fit a path inside of this one. */
  reachesInto(path: readonly string[]): boolean
  /** The rules, as they were given. */
  readonly texts: readonly string[]
}

/** The rules that fit a stream; of several that fit a field the last one counts. */
export function patternsOf(stream: string, rules: readonly FieldRule[]): FieldPatterns {
  const patterns = rules
    .filter((rule) => fits(rule.stream, stream))
    .map(({ path, rule }) => ({ path: path.split('.'), rule }))
    .reverse()
  return {
    texts: patterns.map(({ path, rule }) => `${path.join('.')} ${rule}`),
    actionOf: (path) =>
      patterns.find((one) => one.path.length <= path.length && beginsAlike(one.path, path))?.rule,
    reachesInto: (path) =>
      patterns.some((one) => one.path.length > path.length && beginsAlike(one.path, path)),
  }
}

/** Whether a pattern and a path agree as far as both go. */
function beginsAlike(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.every((part, i) => path[i] === undefined || fits(part, path[i]))
}

/** Whether a name fits a pattern in which `*` stands for any text. */
function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'su').test(name)
}
