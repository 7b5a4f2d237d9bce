import { PEOPLE, personPathsOf, REFERENCES } from '../streams/person-paths.ts'
import { streams } from '../streams/streams.ts'
import type { Column } from '../warehouse/column.ts'
import type { Dialect, Landing } from '../warehouse/landing.ts'
import { closedName, closedPlace, quoted } from '../warehouse/sql.ts'
import { storedColumns } from '../warehouse/tables.ts'

/** Removes the closed versions of rows that were a person's, in any engine. Returns how many there were, by stream. */
export async function forgetVersions(
  landing: Landing,
  id: string,
): Promise<Record<string, number>> {
  const hasOwn = await landing.ownTables()
  const found: Record<string, number> = {}
  for (const [stream, columns] of await storedColumns(landing)) {
    const isPersons = streams.has(stream) ? personsIn(landing.sql, stream, columns, id) : ''
    if (isPersons === '' || !hasOwn(closedName(stream))) continue
    const from = `FROM ${closedPlace(landing.sql, stream)} AS source WHERE ${isPersons}`
    const [[count] = []] = await landing.query(`SELECT count(*) ${from}`)
    if (count === '0') continue
    await landing.run(`DELETE ${from}`)
    found[stream] = Number(count)
  }
  return found
}

/** Whether a row of `source` is the person's, as SQL; empty if no column leads to a person. */
function personsIn(sql: Dialect, stream: string, columns: readonly Column[], id: string): string {
  const named = (property: string | undefined) =>
    columns.filter((column) => column.property === property)
  const conditions = personPathsOf(stream).flatMap(([member, ...rest]) =>
    named(member).map(({ name, type }) => {
      const value = `source.${quoted(name)}`
      const text =
        type === 'JSON'
          ? sql.textAt(value, rest.map((part) => `/${part}`).join(''))
          : `CAST(${value} AS ${sql.type('VARCHAR')})`
      return `${text} = ${sql.literal(id)}`
    }),
  )
  const isHere = conditions.join(' OR ')
  const [collection] = stream === REFERENCES ? named('collection') : []
  if (collection === undefined || isHere === '') return isHere
  return `source.${quoted(collection.name)} = ${sql.literal(PEOPLE)} AND (${isHere})`
}
