import type { MemberRule, ObjectRules, ValueReplacement } from '../records/object-rules.ts'

/** Rules as the scanner asks about them: each that says more than one word has a number, a subject. */
export interface RuleAnswers {
  /** What becomes of records. */
  readonly root: number
  /** What becomes of the member with a name, its JSON text, of an object at a depth under the rules of a subject. */
  rule(subject: number, name: Buffer, depth: number): number
  /** What replaces a value under a subject; both are JSON texts. */
  replacement(subject: number, value: string): string
}

/** The numbers of an answer: `wasm/rewrite.ts`. */
const KEEP = 0
const DROP = 1
const REPLACE = 2
const INSIDE = 3
const VALUES_STAY = 4
const PASSING = 8
const SUBJECT = 4

/** Rules that are remembered: a service that sends new names in each record must not fill the memory. */
const MOST_SUBJECTS = 10_000

export function createRuleAnswers(rules: ObjectRules): RuleAnswers {
  const subjects: (ObjectRules | ValueReplacement)[] = [rules]
  /** The subject of a member, by the subject around it and its name. */
  const known = new Map<string, number>()
  return {
    root: answer(rules, 0),

    rule(subject, name, depth) {
      const around = subjects[subject] as ObjectRules
      const isPassing = subject >= MOST_SUBJECTS
      const place = `${subject} ${name.toString('latin1')}`
      const before = known.get(place)
      if (before !== undefined && !isPassing) return answer(subjects[before] as ObjectRules, before)
      const rule = around.ruleOf(JSON.parse(name.toString('utf8')) as string)
      if (rule === 'keep' || rule === 'drop') return answer(rule, 0) | (isPassing ? PASSING : 0)
      if (isPassing || subjects.length >= MOST_SUBJECTS) {
        // An object is done with before the next one at its depth begins.
        const passing = MOST_SUBJECTS + depth
        subjects[passing] = rule
        return answer(rule, passing) | PASSING
      }
      known.set(place, subjects.push(rule) - 1)
      return answer(rule, subjects.length - 1)
    },

    replacement(subject, value) {
      const rule = subjects[subject] as ObjectRules | ValueReplacement
      return (typeof rule === 'function' ? rule : (rule.values as ValueReplacement))(value)
    },
  }
}

function answer(rule: MemberRule, subject: number): number {
  if (rule === 'keep') return KEEP
  if (rule === 'drop') return DROP
  const kind = typeof rule === 'function' ? REPLACE : INSIDE
  const stay = typeof rule === 'object' && rule.values === 'keep' ? VALUES_STAY : 0
  return kind | stay | (subject << SUBJECT)
}
