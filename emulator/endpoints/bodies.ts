import { type ListFault, ServiceError, type ServiceRequest } from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Fields, StoredRecord } from '../store/store.ts'

/** What is wrong with one property of a body; an empty name stands for the whole body. */
export interface BodyError {
  readonly property: string
  readonly message: string
}

/** The JSON object that a request carries; anything else is a 400. */
export function readBody({ body }: ServiceRequest): Fields {
  const value = parse(body)
  if (isObject(value)) return value
  throw bodyNotValid([{ property: '', message: 'The body is no JSON object' }])
}

/** A 400 in the documented form for bodies; the fields of its items are not documented. */
export function bodyNotValid(errors: readonly BodyError[]): ServiceError {
  const texts = errors.map(({ property, message }) => `${property}: ${message}`)
  const body = JSON.stringify({ validationErrors: errors })
  return new ServiceError(400, 'Request not valid', { reasons: texts, body })
}

/** Whether a JSON value is an object. */
function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns what is wrong with a property's value, which is undefined if it is missing or null. */
type Rule = (value: unknown, property: string, options: ResolvedOptions) => BodyError[]

/** The writable properties of a collection, each with its rule. */
export type Rules = Readonly<Record<string, Rule>>

/**
 * The writable properties of a body. Null counts as missing, and properties that cannot be written (`id`,
 * `changeVersion`, unknown ones) are ignored. Throws a 400 that lists all faults.
 */
export function writableFields(body: Fields, rules: Rules, options: ResolvedOptions): Fields {
  const given = Object.keys(rules).map((property): [string, unknown] => [
    property,
    body[property] ?? undefined,
  ])
  const errors = given.flatMap(
    ([property, value]) => rules[property]?.(value, property, options) ?? [],
  )
  if (errors.length > 0) throw bodyNotValid(errors)
  const known = given.filter(([, value]) => value !== undefined).map(knownParts)
  return Object.fromEntries(known)
}

/** An optional text. */
export const text: Rule = (value, property) =>
  value === undefined || typeof value === 'string' ? [] : [{ property, message: 'is no text' }]

/** An optional text of at most 50 characters. */
export const code: Rule = (value, property, options) => {
  if (typeof value !== 'string') return text(value, property, options)
  return [...value].length > 50 ? [{ property, message: 'is longer than 50 characters' }] : []
}

/** A default text, which is required, and its translations. */
export const name: Rule = (value, property, options) => {
  if (value !== undefined && !isObject(value)) return [{ property, message: 'is no object' }]
  const { default: main, translations } = value ?? {}
  return [
    ...defaultErrors(main, `${property}.default`, options),
    ...translationErrors(translations ?? undefined, `${property}.translations`, options),
  ]
}

const defaultErrors: Rule = (value, property, options) => {
  if (value === undefined || value === null) return [{ property, message: 'is required' }]
  if (value !== '') return text(value, property, options)
  return [{ property, message: 'is empty' }]
}

const translationErrors: Rule = (value, property, options) => {
  if (value === undefined) return []
  if (!isObject(value)) return [{ property, message: 'is no object' }]
  const keys = options.dialect === 'specification' ? /^[a-z]{2}$/ : /^[a-z]{2}(-[A-Z]{2})?$/
  return Object.entries(value).flatMap(([key, translation]) => {
    const one = `${property}.${key}`
    if (!keys.test(key)) return [{ property: one, message: 'is no valid language' }]
    return typeof translation === 'string' ? [] : [{ property: one, message: 'is no text' }]
  })
}

function knownParts([property, value]: [string, unknown]): [string, unknown] {
  if (property !== 'name') return [property, value]
  const { default: main, translations } = value as Fields
  return [property, { default: main, ...(isObject(translations) && { translations }) }]
}

/** Part of a list: the positions of its records, and whether matching ones follow. */
export interface Page {
  readonly positions: readonly number[]
  readonly more: boolean
}

type Dialect = ResolvedOptions['dialect']

/** The links of a page to the next one. */
interface Links {
  readonly nextLink?: string | undefined
  readonly deltaLink?: string | undefined
}

/** The records that a page is taken from. */
interface PagedRecords {
  readonly length: number
  at(position: number): StoredRecord | undefined
}

/** Where a page begins and how long it is. */
interface PageChoice {
  /** The position of the first record that may be on it. */
  readonly start: number
  /** How many matching records to skip from there. */
  readonly skip?: number
  readonly size: number
}

/** The first matching records from a position on, as they are now. */
export function takePage(
  records: PagedRecords,
  { start, skip = 0, size }: PageChoice,
  matches: (record: StoredRecord) => boolean,
): Page {
  const positions: number[] = []
  let passed = 0
  for (let position = start; position < records.length; position += 1) {
    if (!matches(records.at(position) as StoredRecord)) continue
    if (passed < skip) {
      passed += 1
      continue
    }
    if (positions.length === size) return { positions, more: true }
    positions.push(position)
  }
  return { positions, more: false }
}

/** The items of a page without those that a fault removes. */
export function leftBy<T>(fault: ListFault | undefined, items: readonly T[]): readonly T[] {
  if (fault?.kind === 'empty') return []
  if (fault?.kind === 'short') return items.filter((_, i) => i % 2 === 1)
  return items
}

/** The body of a page of items that are JSON texts. */
export function pageBody(items: readonly string[], links: Links, dialect: Dialect): Buffer {
  return pageOfParts([Buffer.from(items.join(','))], links, dialect)
}

/**
 * The body of a page whose items are bytes, commas included. A missing next link is left out in the
 * documentation, and null in the specification.
 */
export function pageOfParts(parts: readonly Buffer[], links: Links, dialect: Dialect): Buffer {
  const nextLink = links.nextLink ?? (dialect === 'specification' ? null : undefined)
  const rest = JSON.stringify({ nextLink, deltaLink: links.deltaLink }).slice(1)
  const end = `]${rest === '}' ? '' : ','}${rest}`
  return Buffer.concat([Buffer.from('{"value":['), ...parts, Buffer.from(end)])
}
