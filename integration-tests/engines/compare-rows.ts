import { isDeepStrictEqual } from 'node:util'
import type { Row } from './tenant.ts'

/** Columns that the connector or the engine adds. */
const ADDED = /^(_generation|_ab_cdc_deleted_at|_airbyte_.*)$/

/** Told per stream. */
const TOLD = 5

/**
 * What a SQL table and the service's records have not in common, by sentences. SQL engines write
 * columns in small letters, objects as JSON texts and moments in forms of their own; null and a
 * missing field are one. A row with `_ab_cdc_deleted_at` is gone.
 */
export function rowDifferences(
  stream: string,
  table: readonly Row[],
  truth: readonly Row[],
): string[] {
  const live = table.filter((row) => row['_ab_cdc_deleted_at'] === null)
  const left = new Map(live.map((row) => [keyOf(row), row]))
  const faults: string[] = []
  if (left.size < live.length) faults.push(`${stream} has rows of the same key`)
  for (const record of truth) {
    const key = keyOf(record)
    const row = left.get(key)
    left.delete(key)
    if (row === undefined) faults.push(`${stream} lacks ${key}`)
    else faults.push(...valueDifferences(record, row).map((fault) => `${stream} ${key}: ${fault}`))
  }
  for (const key of left.keys()) faults.push(`${stream} has ${key}, which the service has not`)
  return faults.slice(0, TOLD)
}

function valueDifferences(record: Row, row: Row): string[] {
  const expected = new Map(
    Object.entries(record).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const names = new Set([...expected.keys(), ...Object.keys(row)])
  return [...names]
    .filter((name) => !ADDED.test(name) && !isSame(row[name], expected.get(name)))
    .map(
      (name) =>
        `${name} is ${JSON.stringify(row[name])}, not ${JSON.stringify(expected.get(name))}`,
    )
}

function isSame(cell: unknown, value: unknown): boolean {
  if (value === null || value === undefined) return cell === null || cell === undefined
  if (typeof value === 'object')
    return isDeepStrictEqual(typeof cell === 'string' ? JSON.parse(cell) : cell, value)
  if (typeof value === 'number') return cell !== null && Number(cell) === value
  return cell === value || (typeof value === 'string' && isSameMoment(String(cell), value))
}

/** SQL has a space for the T, and UTC where no zone is given. */
function isSameMoment(cell: string, text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text) && moment(cell) === moment(text)
}

function moment(text: string): number {
  const iso = text.replace(' ', 'T')
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(iso) || !iso.includes('T') ? iso : `${iso}Z`)
}

function keyOf(row: Row): string {
  return JSON.stringify(row['id'] ?? [row['collection'], row['name'], row['value']])
}
