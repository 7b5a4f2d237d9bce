import {
  type LineParts,
  type MemberRule,
  type ObjectRules,
  type RecordBatch,
  SKIP,
  UPSERT,
  type ValueReplacement,
} from './record-batch.ts'
import type { JsonSchema } from './stream-spec.ts'

/** The path of a field: `['properties', 'person', 'properties', 'id']`. */
export type Breadcrumb = readonly string[]

/**
 * The rules that apply a selection of fields to a record; undefined if everything is selected. If a field of an
 * object is deselected, only those fields pass that the schema has and the catalog selects: an undocumented field may
 * be a new name of the deselected one.
 */
export function selectionRules(
  schema: JsonSchema,
  isSelected: (breadcrumb: Breadcrumb) => boolean,
  at: Breadcrumb = [],
): ObjectRules | undefined {
  const fields = Object.entries(schema.properties ?? {})
  const members = new Map<string, MemberRule>()
  for (const [name, field] of fields) {
    const place = [...at, 'properties', name]
    members.set(name, isSelected(place) ? inside(field, place) : 'drop')
  }
  const rules = [...members.values()]
  if (rules.every((rule) => rule === 'keep')) return undefined
  const others = rules.includes('drop') ? 'drop' : 'keep'
  return {
    ruleOf: (name) => members.get(name) ?? others,
    values: others === 'keep' ? 'keep' : toNull,
  }

  function inside(field: JsonSchema, place: Breadcrumb): MemberRule {
    const items = field.items && selectionRules(field.items, isSelected, [...place, 'items'])
    return selectionRules(field, isSelected, place) ?? items ?? 'keep'
  }
}

/** Replaces a value that should be an object with selected fields: it may contain what was deselected. */
function toNull(): string {
  return 'null'
}

/** Combines two rules into one that does the same as the first and then the second. */
export function combinedRules(
  first: ObjectRules | undefined,
  second: ObjectRules | undefined,
): ObjectRules | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return both(first, second)
}

function both(first: ObjectRules, second: ObjectRules): ObjectRules {
  const { values } = first
  const isOfLists = first.lists !== undefined || second.lists !== undefined
  return {
    ruleOf: (name) => ruleOfBoth(first.ruleOf(name), second.ruleOf(name)),
    values: values === 'keep' ? second.values : (json) => valueUnder(values(json), second),
    ...(isOfLists && { lists: (json: string) => valueUnder(valueUnder(json, first), second) }),
  }
}

/** Combines two rules for a member, like `combinedRules`. */
export function ruleOfBoth(first: MemberRule, second: MemberRule): MemberRule {
  if (first === 'drop' || second === 'drop') return 'drop'
  if (first === 'keep') return second
  if (second === 'keep') return first
  if (isForMembers(first) && isForMembers(second)) return both(first, second)
  return (json) => valueUnder(valueUnder(json, first), second)
}

/** Applies a rule other than `drop` to a single value. */
function valueUnder(json: string, rule: MemberRule): string {
  if (typeof rule === 'function') return rule(json)
  const around = { ruleOf: () => rule, values: 'keep' } as const
  return rewriteRecord(Buffer.from(`{"":${json}}`), around).slice('{"":'.length, -1)
}

/** The schema of records under rules. A member with a replaced value keeps its schema. */
export function schemaUnder(schema: JsonSchema, rules: ObjectRules | undefined): JsonSchema {
  if (rules === undefined) return schema
  const { properties, items, ...rest } = schema
  return {
    ...rest,
    ...(items === undefined ? {} : { items: schemaUnder(items, rules) }),
    ...(properties === undefined ? {} : { properties: propertiesUnder(properties, rules) }),
  }
}

/** The paths of all fields of a schema, objects and their members included. */
export function fieldsOf(schema: JsonSchema, at = ''): string[] {
  const inside = Object.entries(schema.items?.properties ?? schema.properties ?? {})
  return inside.flatMap(([name, field]) => [`${at}${name}`, ...fieldsOf(field, `${at}${name}.`)])
}

type Properties = NonNullable<JsonSchema['properties']>

function propertiesUnder(properties: Properties, { ruleOf }: ObjectRules): Properties {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => {
      const rule = ruleOf(name)
      if (rule === 'drop') return []
      return [[name, isForMembers(rule) ? schemaUnder(field, rule) : field]]
    }),
  )
}

/**
 * Applies rules to one record. The record is not parsed: members that stay are copied, so that numbers keep every
 * digit. For the records of pages the scanner does the same (`page/wasm/rewrite.ts`); this function is for all
 * others.
 */
export function rewriteRecord(record: Uint8Array, rules: ObjectRules): string {
  return rewritten(record, rules).toString('utf8')
}

/** A rewritten value, and the position after the original one. */
interface Rewritten {
  readonly json: string
  readonly end: number
}

/** Works on latin1, in which each character is one byte. */
function rewritten(record: Uint8Array, rules: ObjectRules): Buffer {
  const text = Buffer.from(record.buffer, record.byteOffset, record.length).toString('latin1')
  return Buffer.from(object(text, 0, rules).json, 'latin1')
}

function object(text: string, start: number, rules: ObjectRules): Rewritten {
  const members: string[] = []
  // Adjacent members that stay are copied together, with the text between them.
  let run = -1
  let runEnd = 0
  let at = skipSpace(text, start + 1)
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at)
    const rule = rules.ruleOf(JSON.parse(fromBytes(text.slice(at, nameEnd))) as string)
    const valueAt = skipSpace(text, skipSpace(text, nameEnd) + 1)
    let end: number
    if (rule === 'keep' || staysWhole(rule, text[valueAt])) {
      if (run < 0) run = at
      end = endOfValue(text, valueAt)
      runEnd = end
    } else {
      if (run >= 0) members.push(text.slice(run, runEnd))
      run = -1
      if (rule === 'drop') end = endOfValue(text, valueAt)
      else {
        const value = changed(text, valueAt, rule)
        members.push(`${text.slice(at, valueAt)}${value.json}`)
        end = value.end
      }
    }
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  if (run >= 0) members.push(text.slice(run, runEnd))
  return { json: `{${members.join(',')}}`, end: at + 1 }
}

function isForMembers(rule: MemberRule): rule is ObjectRules {
  return typeof rule === 'object' && 'ruleOf' in rule
}

/** Whether a rule leaves a value unchanged because it is neither an object nor an array. */
function staysWhole(rule: MemberRule, first: string | undefined): boolean {
  if (first === '{' || first === '[' || typeof rule !== 'object') return false
  return isForMembers(rule) ? rule.values === 'keep' : !(rule.texts && first === '"')
}

/** What replaces a value as a whole under a rule; `keep` if nothing does. */
export function replacementOf(
  rule: Exclude<MemberRule, string>,
  json: string,
): 'keep' | ValueReplacement {
  if (typeof rule === 'function') return rule
  if (isForMembers(rule)) return json.startsWith('[') ? (rule.lists ?? 'keep') : rule.values
  const isText = json.startsWith('"')
  const isNested = isText ? rule.texts && json.includes('\\') : /^[{[]/.test(json)
  return isNested ? rule.nested : 'keep'
}

function changed(text: string, at: number, rule: Exclude<MemberRule, string>): Rewritten {
  if (isForMembers(rule) && text[at] === '{') return object(text, at, rule)
  if (isForMembers(rule) && text[at] === '[' && !rule.lists) return list(text, at, rule)
  const end = endOfValue(text, at)
  const json = text.slice(at, end)
  const replacement = replacementOf(rule, json)
  if (replacement === 'keep') return { json, end }
  return { json: Buffer.from(replacement(fromBytes(json))).toString('latin1'), end }
}

function list(text: string, start: number, rules: ObjectRules): Rewritten {
  const items: string[] = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== ']') {
    const { json, end } = changed(text, at, rules)
    items.push(json)
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return { json: `[${items.join(',')}]`, end: at + 1 }
}

function fromBytes(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8')
}

// The functions that find the ends of texts throw a RangeError if the text is not JSON.

/** The position after the match of a sticky pattern; throws at the end of the text. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  if (!pattern.test(text)) throw new RangeError('a record is no JSON')
  return pattern.lastIndex
}

const SPACE = /[ \t\n\r]*(?=.)/sy
/** A number, `true`, `false` or `null`. */
const WORD = /[^\s,\]}]+/y
/** The characters of a string that need no attention, and those between the brackets and strings of a container. */
const IN_STRING = /[^"\\]*(?=.)/sy
const IN_CONTAINER = /[^"[\]{}]*(?=.)/sy

function skipSpace(text: string, at: number): number {
  return matchEnd(SPACE, text, at)
}

function endOfString(text: string, start: number): number {
  let at = matchEnd(IN_STRING, text, start + 1)
  while (text[at] !== '"') at = matchEnd(IN_STRING, text, at + 2)
  return at + 1
}

/** Finds the end of a container by counting brackets, without looking into strings. */
function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') return matchEnd(WORD, text, start)
  let depth = 0
  for (let at = start; ; ) {
    const next = text[at]
    if (next === '{' || next === '[') depth++
    else if (next === '}' || next === ']') depth--
    if (depth === 0) return at + 1
    at = matchEnd(IN_CONTAINER, text, next === '"' ? endOfString(text, at) : at + 1)
  }
}

/**
 * Applies rules to the records of batches; the `ops` are shared with the original batch. A batch whose `selection` is
 * these rules passes unchanged.
 */
export function createBatchRewriter(
  rules: ObjectRules | undefined,
): (batch: RecordBatch) => RecordBatch {
  if (rules === undefined) return (batch) => batch
  return (batch) => (batch.selection === rules ? batch : new RewrittenBatch(batch, rules))
}

/** A class, because each object literal with a getter gets a shape of its own, which the garbage collector keeps. */
class RewrittenBatch implements RecordBatch {
  readonly count: number
  readonly ops: Uint8Array
  readonly keys: Float64Array
  readonly isRising: boolean | undefined
  readonly fault: string | null
  readonly #batch: RecordBatch
  readonly #rules: ObjectRules

  constructor(batch: RecordBatch, rules: ObjectRules) {
    this.count = batch.count
    this.ops = batch.ops
    this.keys = batch.keys
    this.isRising = batch.isRising
    this.fault = batch.fault
    this.#batch = batch
    this.#rules = rules
  }

  get highestVersion(): string | undefined {
    return this.#batch.highestVersion
  }

  keyText(index: number): string {
    return this.#batch.keyText(index)
  }

  versionText(index: number): string | undefined {
    return this.#batch.versionText(index)
  }

  dateText(index: number): string | undefined {
    return this.#batch.dateText(index)
  }

  record(index: number): Uint8Array {
    return rewritten(this.#batch.record(index), this.#rules)
  }

  received(index: number): Uint8Array {
    return this.#batch.received(index)
  }

  lines({ prefix, suffix, deleteSuffix }: LineParts): Uint8Array {
    const parts: Uint8Array[] = []
    for (let index = 0; index < this.count; index++) {
      const op = this.ops[index]
      if (op === SKIP) continue
      // The suffix closes the record.
      parts.push(prefix, this.record(index).subarray(0, -1), op === UPSERT ? suffix : deleteSuffix)
    }
    return Buffer.concat(parts)
  }
}
