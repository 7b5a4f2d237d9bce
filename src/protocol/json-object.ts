/** A JSON object, of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value of JSON is an object: neither null nor a list. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
