import { isJsonObject } from '../ground/json.ts'
import { meaningOf, type PrivacySettings } from '../privacy/privacy-settings.ts'
import { createPseudonyms } from '../privacy/pseudonyms.ts'
import { PEOPLE, REFERENCES } from '../streams/person-paths.ts'
import { readStreamSchema } from '../streams/streams.ts'
import type { Landing } from '../warehouse/landing.ts'

/** An external reference of a person. */
export interface PersonReference {
  readonly name: string
  readonly value: string
}

/** The ids of the people to whom a reference leads, by the tables of a file; `privacy` says whether these have hashes. */
export async function idsByReference(
  landing: Landing,
  { name, value }: PersonReference,
  { pseudonyms }: PrivacySettings,
): Promise<string[]> {
  const meaning = `${PEOPLE} ${name}`
  const hash = pseudonyms && createPseudonyms(pseudonyms).of(meaning)(JSON.stringify(value))
  const values: unknown[] = [value, hash && JSON.parse(hash)]
  const fields = Object.entries(readStreamSchema(PEOPLE).properties)
  const ids = new Set<string>()
  for (const row of await rowsIn(PEOPLE))
    for (const [member, field] of fields) {
      const means = meaningOf(field)
      const map = means === PEOPLE ? row[member] : undefined
      const own = means === meaning ? row[member] : isJsonObject(map) ? map[name] : undefined
      if (values.includes(own ?? null)) ids.add(String(row['id']))
    }
  for (const { collection, ...row } of await rowsIn(REFERENCES))
    if (collection === PEOPLE && row['name'] === name && values.includes(row['value']))
      ids.add(String(row['internalReference']))
  return [...ids]

  async function rowsIn(table: string): Promise<Readonly<Record<string, unknown>>[]> {
    if ((await landing.present()).columnsOf(table) === undefined) return []
    const rows = await landing.jsonRows(`SELECT source.* FROM main.${table} AS source`)
    return rows.map((row) => JSON.parse(row) as Readonly<Record<string, unknown>>)
  }
}
