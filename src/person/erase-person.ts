import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { addDays, type Day, dayOf, earlier, isDay, later } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import type { PrivacySettings } from '../privacy/privacy-settings.ts'
import type { Key } from '../rows/id-set.ts'
import { PEOPLE, REFERENCES } from '../streams/person-paths.ts'
import { DAYS_BEYOND, INVENTORY, streams } from '../streams/streams.ts'
import { readState, withheldIn } from '../sync/stored-state.ts'
import type { Landing, Renew, Renewal, RenewSettings } from '../warehouse/landing.ts'
import { withoutKeys } from './forget-keys.ts'
import { type FoundRow, membersOf, type PersonData, readPerson } from './person-tables.ts'
import { type Asking, listingsOf } from './still-listed.ts'

export interface EraseSettings<Config> extends RenewSettings {
  readonly id: string
  /** Names and numbers to search for in texts of others, beside those in the rows. */
  readonly names: readonly string[]
  readonly asking: Asking<Config>
  readonly privacy: PrivacySettings
  /** See `PersonCodes`; undefined without a key. */
  readonly code: string | undefined
  /** Whether syncs leave the person out: then the service may keep all records, and references of those that are not of people. */
  readonly isSuppressed: boolean
  readonly version: string
  readonly now: Date
}

/** What was erased, without anything that says who the person was. */
export interface Receipt {
  readonly receipt: string
  readonly at: string
  readonly version: string
  /** The number of erased rows, by stream. */
  readonly rows: Readonly<Record<string, number>>
  readonly copies: number
  /** Rows of others, and what they were before, that may name the person: a name can be a common word. They were not changed. */
  readonly toJudge: readonly Omit<FoundRow, 'row' | 'isClosed'>[]
  /** Without names, texts of others were not searched. */
  readonly areNamesKnown: boolean
  /** How many names and numbers were searched in the bytes of the new files, and how many were found. */
  readonly searched: number
  readonly found: number
  /** What no sync has created in the file. It was kept, and may have copies of rows. */
  readonly others: readonly string[]
  readonly result: 'erased' | 'to be judged' | 'nothing to erase'
  /** The code of the person for the setting suppressed_people. */
  readonly person?: string | undefined
}

/**
 * Erases a person from a file of `protime sync` and its copies: rows, ids in states, and their bytes, also those of rows that
 * syncs have deleted before. Throws a config error while the service lists the person; then nothing has changed.
 */
export function erasePerson<Config>(
  withRenewable: Renew,
  settings: EraseSettings<Config>,
): Promise<Receipt> {
  const { id, names, asking, privacy, code, isSuppressed, version, now, ...files } = settings
  return withRenewable(files, async ({ landing, others, renew }) => {
    const person = await readPerson(landing, id, privacy, names)
    const held = heldDays(person, now)
    const owned = isSuppressed ? new Map([[PEOPLE, new Set([id])]]) : person.owned
    // A row that no sync has deleted may exist although the person does not.
    for (const asked of [ANYWAY, held]) {
      const listed = await listingsOf(owned, asked, asking)
      if (listed.length > 0) throw stillListed(listed, code)
    }
    const withheld = await withheldStreams(landing, person)
    if (withheld.length > 0) throw stillWithheld(withheld)
    await renew(await changesFor(landing, id, person))
    const wanted = person.ownNames.filter((text) => Buffer.byteLength(text) >= LEAST_BYTES)
    const found = await textsIn([files.path, ...files.copies], wanted)
    const rows: Record<string, number> = {}
    for (const { stream } of person.rows) rows[stream] = (rows[stream] ?? 0) + 1
    const toJudge = person.toJudge.map(({ row: _, isClosed: __, ...place }) => place)
    const { areNamesKnown } = person
    const isLeft = !areNamesKnown || toJudge.length + found + others.length > 0
    return {
      ...{ receipt: randomUUID(), at: now.toISOString(), version, rows },
      ...{
        copies: files.copies.length,
        toJudge,
        areNamesKnown,
        searched: wanted.length,
        found,
        others,
      },
      result: person.rows.length === 0 ? 'nothing to erase' : isLeft ? 'to be judged' : 'erased',
      person: code,
    }
  })
}

/** The streams that are asked for whatever the file has. */
const ANYWAY = new Map([PEOPLE, REFERENCES].map((stream) => [stream, null]))

/** The streams with rows of the person that no sync has deleted, each with their last day. */
function heldDays({ rows }: PersonData, now: Date): ReadonlyMap<string, Day | null> {
  const last = addDays(dayOf(now), DAYS_BEYOND)
  const held = new Map<string, Day | null>()
  for (const { stream, row } of rows.filter(({ isClosed }) => !isClosed)) {
    const day = dayOfRow(stream, row)
    const before = held.get(stream) ?? null
    held.set(stream, day === null ? before : later(before, earlier(last, day)))
  }
  return held
}

/** The day of a row by which the service lists it; null if it has none. */
function dayOfRow(stream: string, row: string): Day | null {
  const { dateField } = streams.get(stream) ?? {}
  const day = dateField && String(membersOf(row)[dateField]).slice(0, 10)
  return day !== undefined && isDay(day) ? day : null
}

function stillListed(names: readonly string[], code: string | undefined): ConnectorError {
  const how =
    code === undefined
      ? 'set privacy_key: this message then has the code for suppressed_people'
      : `add ${code} to suppressed_people`
  return new ConnectorError(
    'config',
    'person-still-listed',
    `Nothing was erased: the service still lists the person in ${names.join(', ')}, so the next sync would bring the rows back. Delete the person there first, with the references and all other rows. If they have to stay there, ${how}.`,
  )
}

/** The streams with rows of the person that the service does not list, although nobody knows that they are gone. */
async function withheldStreams(landing: Landing, { rows }: PersonData): Promise<string[]> {
  return [...(await storedStates(landing))].flatMap(([stream, stored]) => {
    const state = readState(stored)
    if (state === 'none' || 'unreadable' in state) return []
    const withheld = withheldIn(state)
    return rows.some((row) => row.stream === stream && withheld.has(keyOf(row))) ? [stream] : []
  })
}

function stillWithheld(names: readonly string[]): ConnectorError {
  return new ConnectorError(
    'config',
    'deletes-withheld',
    `Nothing was erased: rows of the person in ${names.join(' and ')} are among those that the last sync did not find, and were too many to be deleted. The service may still have the person, and bring the rows back. Sync until no deletes are withheld, then run it again. A sync that withholds them names the approval for deleting them.`,
  )
}

/** The states in the file, by stream. */
async function storedStates(landing: Landing): Promise<ReadonlyMap<string, unknown>> {
  const rows = await landing.query(
    'SELECT states.stream, states.state FROM _protime.states AS states',
  )
  return new Map(rows.map(([stream, text]) => [String(stream), JSON.parse(String(text))]))
}

/** The new file has no rows of the person, no ids of them in states, and no counts with them. */
async function changesFor(
  landing: Landing,
  id: string,
  { tables, rows }: PersonData,
): Promise<Renewal> {
  const streams = new Set(rows.map(({ stream }) => stream))
  const states = new Map<string, unknown>()
  for (const [stream, state] of await storedStates(landing)) {
    const own = rows.filter((row) => row.stream === stream)
    const keys = own.filter(({ isClosed }) => !isClosed).map(keyOf)
    // A state may have the ids of rows that a sync has deleted.
    const before = own.filter(({ isClosed }) => isClosed).map(keyOf)
    if (stream === PEOPLE) keys.push(Number(id))
    const left = keys.length + before.length === 0 ? state : withoutKeys(state, keys, before)
    if (left !== undefined) states.set(stream, left)
  }
  const omissions = new Map(tables.map(({ table, isPersons }) => [table, isPersons]))
  // The next sync writes these rows anew.
  const names = ['', ...streams].map(landing.sql.literal).join(', ')
  for (const { table } of tables.filter(({ stream }) => stream === INVENTORY.stream))
    omissions.set(table, `source.stream IN (${names})`)
  // Error texts of the service can name people; the account says how many rows each table has.
  const counts = tables
    .filter(({ stream }) => streams.has(stream) || stream === INVENTORY.stream)
    .flatMap(({ stream, table, has }) =>
      has === 'closed versions'
        ? []
        : [
            `UPDATE _protime.streams SET ${has === 'rows' ? 'rows' : 'next_rows'} = (SELECT count(*) FROM ${table})
              WHERE stream = ${landing.sql.literal(stream)}`,
          ],
    )
  const texts = `UPDATE _protime.streams SET failure = ${landing.sql.literal(FORGOTTEN)} WHERE failure IS NOT NULL`
  return { omissions, states, statements: [texts, ...counts] }
}

/** In place of the text of a failure. */
const FORGOTTEN =
  'protime person erase has removed the text; the next sync tells it if it fails again.'

/** The key of a row as a state has it. */
function keyOf({ key }: FoundRow): Key {
  return typeof key === 'number' ? key : JSON.stringify(key)
}

/** Shorter values occur in any file by chance. */
const LEAST_BYTES = 6

/** How many of these texts are in the bytes of files. */
async function textsIn(paths: readonly string[], wanted: readonly string[]): Promise<number> {
  const found = new Set<string>()
  const overlap = Math.max(0, ...wanted.map((text) => Buffer.byteLength(text)))
  for (const path of paths) {
    let end = Buffer.alloc(0)
    for await (const chunk of createReadStream(path, { highWaterMark: 4 * 1024 * 1024 })) {
      const bytes = Buffer.concat([end, chunk as Buffer])
      for (const text of wanted) if (bytes.includes(text)) found.add(text)
      end = bytes.subarray(Math.max(0, bytes.length - overlap))
    }
  }
  return found.size
}
