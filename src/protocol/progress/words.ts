import type { RowCounts } from './sync-observer.ts'

/** A number with its thousands apart: 1,234,567. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A time as a clock shows it: 0:07, 12:30, 1:00:05. */
export function clockTime(seconds: number): string {
  const whole = Math.floor(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const end = String(whole % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${end}` : `${hours}:${String(minutes).padStart(2, '0')}:${end}`
}

/** "3 records and 1 delete"; "no records" for nothing. */
export function rowsInWords({ records, deletes }: RowCounts): string {
  const parts = [many(records, 'record'), many(deletes, 'delete')].filter(Boolean)
  return parts.length === 0 ? 'no records' : parts.join(' and ')
}

/** "1 row", "2 rows"; nothing for none. */
function many(count: number, one: string): string {
  return count === 0 ? '' : `${count} ${one}${count === 1 ? '' : 's'}`
}

/** As many of the parts as fit into one line, the first of them cut if it must be. */
export function fitted(parts: readonly string[], width: number): string {
  let [line = ''] = parts
  for (const part of parts.slice(1)) {
    if (line.length + part.length + 2 > width) break
    line += `, ${part}`
  }
  return cut(line, width)
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}
