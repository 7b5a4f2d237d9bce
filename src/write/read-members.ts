import type { Verdict } from './outcome.ts'

/** What a record asks for, or why it cannot be sent. */
export type Reading<T> = { readonly wanted: T } | { readonly rejection: Verdict }

class Rejection extends Error {}

/** Why a record cannot be sent, in a sentence; thrown within `read`. */
export function rejected(reason: string): Error {
  return new Rejection(reason)
}

/** Reads a record by a function that throws `rejected`. */
export function read<T>(reader: () => T): Reading<T> {
  try {
    return { wanted: reader() }
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    return { rejection: { outcome: 'rejected', reason: error.message } }
  }
}

/**
 * A member as text; whole numbers are taken too, because warehouses have codes and ids in columns of
 * numbers. Undefined when it is missing, null when it is null.
 */
export function textOf(
  data: Readonly<Record<string, unknown>>,
  member: string,
): string | null | undefined {
  const value = data[member]
  if (value === undefined || value === null) return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (Number.isInteger(value))
    throw rejected(`The ${member} is too large for a number that is exact: send it as a text.`)
  if (typeof value !== 'string')
    throw rejected(`The ${member} is neither a text nor a whole number.`)
  if (/\p{Surrogate}/u.test(value)) throw rejected(`The ${member} is not well-formed Unicode.`)
  return value
}

/** A member that is an object; undefined when it is missing, null when it is null. */
export function objectOf(
  data: Readonly<Record<string, unknown>>,
  member: string,
): Readonly<Record<string, unknown>> | null | undefined {
  const value = data[member]
  if (value === undefined || value === null) return value
  if (typeof value !== 'object' || Array.isArray(value))
    throw rejected(`The ${member} is not an object.`)
  return value as Readonly<Record<string, unknown>>
}
