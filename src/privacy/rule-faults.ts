import { nearest } from '../ground/text.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { readStreamSchema, streams } from '../streams/streams.ts'
import {
  type FieldRule,
  modeAction,
  namesSecret,
  type PrivacySettings,
  patternsOf,
} from './privacy-settings.ts'

/** The key and the version, to which no rule applies. */
const ALWAYS_THERE = ['id', 'changeVersion']

/**
 * One sentence for each rule that matches no stream or no field in the schemas, or that changes a field that has to
 * stay.
 */
export function ruleFaults(rules: readonly FieldRule[]): string[] {
  return rules.flatMap((rule, i) => {
    const patterns = [...streams.keys()].map(
      (stream) => [stream, patternsOf(stream, [rule])] as const,
    )
    const fitting = patterns.filter(([, { texts }]) => texts.length > 0)
    if (fitting.length === 0) {
      const meant = nearest(rule.stream, [...streams.keys()])
      const question = meant === undefined ? '' : `; did you mean ${meant}?`
      return [
        `field_rules.${i}.stream is ${rule.stream}, which matches no stream${question || '.'}`,
      ]
    }
    if (ALWAYS_THERE.includes(rule.path) && rule.rule !== 'keep')
      return [`field_rules.${i}.path is ${rule.path}, which stays as it is in every record.`]
    if (rule.unknown === true) return []
    const places = fitting.map(
      ([stream, pattern]) => [pattern, pathsOf(readStreamSchema(stream))] as const,
    )
    const fits = places.some(([{ actionOf, reachesInto }, known]) =>
      known.some(
        ({ path, isOpen }) => actionOf(path) !== undefined || (isOpen && reachesInto(path)),
      ),
    )
    if (fits) return []
    const known = places.flatMap(([, paths]) => paths.map(({ path }) => path.join('.')))
    const meant = nearest(rule.path, new Set(known))
    return [
      `field_rules.${i}.path is ${rule.path}, which matches no field that the schema of ${rule.stream} knows${
        meant === undefined ? '' : `; did you mean ${meant}?`
      }${meant === undefined ? '.' : ''} For a field that the service has added, set "unknown": true.`,
    ]
  })
}

/** An entry of the setting `external_references`. */
interface AskedReferences {
  readonly collection: string
  readonly names: readonly string[]
}

/**
 * A sentence that names the requested references that are left out of every record; no sentence if there are none.
 */
export function leftOutReferences(
  asked: readonly AskedReferences[],
  { mode, rules }: PrivacySettings,
): string[] {
  const leavesAllOut = modeAction(mode, 'identifying') === 'drop'
  const leavesSecretsOut = modeAction(mode, 'secret') === 'drop'
  const leftOut = asked.flatMap(({ collection, names }) =>
    names
      .filter((name) => leavesAllOut || (leavesSecretsOut && namesSecret(name)))
      .filter((name) => !isPassedByRule(name, rules))
      .map((name) => `${name} of ${collection}`),
  )
  if (leftOut.length === 0) return []
  return [
    `external_references names references that personal_data, ${mode}, leaves out of every record: ${leftOut.join(', ')}. Name others, or keep them with field_rules.`,
  ]
}

/** Whether a rule keeps or hashes the references of a name in the records of some stream. */
function isPassedByRule(name: string, rules: readonly FieldRule[]): boolean {
  if (rules.length === 0) return false
  return [...streams.keys()].some((stream) => {
    const { actionOf } = patternsOf(stream, rules)
    return pathsOf(readStreamSchema(stream))
      .filter(({ path, isOpen }) => isOpen && path.at(-1) === 'externalReferences')
      .map(({ path }) => actionOf([...path, name]))
      .some((action) => action === 'keep' || (action === 'hash' && !namesSecret(name)))
  })
}

interface Place {
  readonly path: readonly string[]
  /** Whether it is an object with arbitrary members. */
  readonly isOpen: boolean
}

function pathsOf(schema: JsonSchema, at: readonly string[] = []): Place[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = [...at, name]
    const inside = field.items ?? field
    const isOpen = inside.properties === undefined && [inside['type']].flat().includes('object')
    return [{ path, isOpen }, ...pathsOf(inside, path)]
  })
}
