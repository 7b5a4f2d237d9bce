import { type Day, isDay, LATEST_SECONDS } from '../ground/days.ts'

/** A field of the stored state of a stream. */
export interface Field<T> {
  readonly stored: string
  /** Parses what is stored, null if there is nothing; undefined if it is damaged. */
  readonly read: (value: unknown) => T | undefined
  readonly write: (value: T) => unknown
  /** The value of a stream that was never read. */
  readonly fresh: T
  readonly about: string
}

type Read<T> = (value: unknown) => T | undefined

/** The values of the fields of a table. */
export type ValuesOf<T> = { readonly [Name in keyof T]: T[Name] extends Field<infer V> ? V : never }

/** The stored state of a stream: a flat object. */
export type StateBlob = Readonly<Record<string, unknown>>

export const text: Read<string> = (value) => (typeof value === 'string' ? value : undefined)
export const flag: Read<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)
export const day: Read<Day> = (value) =>
  typeof value === 'string' && isDay(value) ? value : undefined

function time(value: unknown): Date | undefined {
  const at = typeof value === 'string' ? new Date(value) : new Date(Number.NaN)
  return Math.abs(at.getTime()) <= LATEST_SECONDS * 1000 ? at : undefined
}

export function integer(from: number, to: number): Read<number> {
  return (value) =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to
      ? Number(value)
      : undefined
}

export function oneOf<T extends string>(...names: readonly T[]): Read<T> {
  return (value) => names.find((name) => name === value)
}

/** A number of rows. An impossible one is unknown, which does not make the rest of the state useless. */
export const rows: Read<number | null> = (value) =>
  value === null || typeof value === 'number'
    ? (integer(0, Number.MAX_SAFE_INTEGER)(value) ?? null)
    : undefined

/** `fallback` is for states of older versions, which do not have the field. */
export function or<T, F = T>(fallback: F, read: Read<T>): Read<T | F> {
  return (value) => (value === null ? fallback : read(value))
}

const asStored = (value: unknown) => value

/** A field that is stored as it is, and in older states is missing where null is allowed. */
export function plain<T extends string | number | boolean | null>(
  stored: string,
  read: Read<T>,
  fresh: NoInfer<T>,
  about: string,
): Field<T> {
  return { stored, read, write: asStored, fresh, about }
}

/** A time, null for none. */
export function moment(stored: string, about: string): Field<Date | null> {
  const write = (at: Date | null) => at?.toISOString() ?? null
  return { stored, read: or(null, time), write, fresh: null, about }
}

/** Some fields of the state. */
export interface FieldTable<T> {
  readonly fields: T
  /** The values of a stream that was never read. */
  readonly fresh: ValuesOf<T>
  /** Returns the stored name of the first field that is damaged, if there is one. */
  read(blob: StateBlob): ValuesOf<T> | string
  write(values: ValuesOf<T>, blob: Record<string, unknown>): void
}

export function fieldTable<T>(fields: T): FieldTable<T> {
  const entries = Object.entries(fields as Readonly<Record<string, Field<unknown>>>)
  const fresh = Object.fromEntries(entries.map(([name, field]) => [name, field.fresh]))
  return {
    fields,
    fresh: fresh as ValuesOf<T>,
    read(blob) {
      const values: Record<string, unknown> = {}
      for (const [name, { stored, read }] of entries) {
        const value = read(blob[stored] ?? null)
        if (value === undefined) return stored
        values[name] = value
      }
      return values as ValuesOf<T>
    },
    write(values, blob) {
      for (const [name, { stored, write }] of entries) blob[stored] = write(values[name as keyof T])
    },
  }
}
