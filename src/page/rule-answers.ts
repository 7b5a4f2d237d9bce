import type { MemberRule, ObjectRules, ValueReplacement } from '../records/record-batch.ts'
import { replacementOf } from '../records/record-rules.ts'

/**
 * The rules in the form in which the scanner asks for them. Each rule other than `keep` and `drop` has a number,
 * called its subject.
 */
export interface RuleAnswers {
  /** The answer for records. */
  readonly root: number
  /** The answer for a member: its name is JSON text, and its object is at `depth` under the rules of `subject`. */
  rule(subject: number, name: Buffer, depth: number): number
  /** Replaces a value under a subject; both are JSON texts. */
  replacement(subject: number, value: string): string
}

/** The numbers of an answer: see `wasm/rewrite.ts`. */
const KEEP = 0
const DROP = 1
const REPLACE = 2
const INSIDE = 3
const VALUES_STAY = 4
const PASSING = 8
const TEXTS = 16
const LISTS = 32
const SUBJECT = 6

/** A rule that the module knows by a number. */
type Subject = Exclude<MemberRule, string>

/** The most rules that are kept: a service that sends new names in each record must not fill the memory. */
const MOST_SUBJECTS = 10_000

export function createRuleAnswers(rules: ObjectRules): RuleAnswers {
  const subjects: Subject[] = [rules]
  /** The subjects of members, by the subject of their object and their name. */
  const known = new Map<string, number>()
  return {
    root: answer(rules, 0),

    rule(subject, name, depth) {
      const around = subjects[subject] as ObjectRules
      const isPassing = subject >= MOST_SUBJECTS
      const place = `${subject} ${name.toString('latin1')}`
      const before = known.get(place)
      if (before !== undefined && !isPassing) return answer(subjects[before] as Subject, before)
      const rule = around.ruleOf(JSON.parse(name.toString('utf8')) as string)
      if (rule === 'keep' || rule === 'drop') return answer(rule, 0) | (isPassing ? PASSING : 0)
      if (isPassing || subjects.length >= MOST_SUBJECTS) {
        // The number can be reused, because an object ends before the next one at its depth begins.
        const passing = MOST_SUBJECTS + depth
        subjects[passing] = rule
        return answer(rule, passing) | PASSING
      }
      known.set(place, subjects.push(rule) - 1)
      return answer(rule, subjects.length - 1)
    },

    replacement(subject, value) {
      return (replacementOf(subjects[subject] as Subject, value) as ValueReplacement)(value)
    },
  }
}

function answer(rule: MemberRule, subject: number): number {
  if (rule === 'keep') return KEEP
  if (rule === 'drop') return DROP
  return kindOf(rule) | (subject << SUBJECT)
}

function kindOf(rule: Subject): number {
  if (typeof rule === 'function') return REPLACE
  if ('nested' in rule) return REPLACE | VALUES_STAY | (rule.texts ? TEXTS : 0)
  const stay = rule.values === 'keep' ? VALUES_STAY : 0
  return INSIDE | stay | (rule.lists === undefined ? 0 : LISTS)
}
