/** How many rows a program may delete on its own: a number, or a share of the rows that there are. */
export type Limit = { readonly count: number } | { readonly percent: number }

/** A percentage always allows this many, because a fifth of a few rows is less than one. */
const HANDFUL = 5

/** Parses `10` or `20%`; the schema of the settings has checked the form. */
export function limitOf(text: string): Limit {
  const number = Number.parseInt(text, 10)
  return text.endsWith('%') ? { percent: number } : { count: number }
}

/** How many of so many rows the limit allows; with 100 %, any number. */
export function mostOf(rows: number, limit: Limit): number {
  if ('count' in limit) return limit.count
  if (limit.percent === 0) return 0
  return limit.percent >= 100 ? Infinity : Math.max(HANDFUL, (rows * limit.percent) / 100)
}

/** The limit in words: `10` or `20 %`. */
export function limitText(limit: Limit): string {
  return 'count' in limit ? String(limit.count) : `${limit.percent} %`
}
