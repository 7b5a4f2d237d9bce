/**
 * The time of an HTTP date in milliseconds; undefined for any other text. Date.parse alone takes
 * far too much for a date, such as `-5` or `soon 5`.
 */
export function httpDateMs(text: string): number | undefined {
  if (!/\d\d:\d\d:\d\d/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
