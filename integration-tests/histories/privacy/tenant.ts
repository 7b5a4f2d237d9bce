import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Emulator, startEmulator } from '../../../emulator/emulator.ts'
import { referencedCollections, type Stream } from '../../../src/streams/collections.ts'
import { streams as catalogue } from '../../../src/streams/streams.ts'
import type { PrivacyHistory, PrivacyStep, Treatment } from './history.ts'
import { createMarks, marksIn } from './marks.ts'
import { isOffered, treated } from './treatment.ts'

type Row = Readonly<Record<string, unknown>>

/** The service's side of a history of personal data, and all that it ever had. */
export interface MarkedTenant {
  readonly emulator: Emulator
  /** Refuses a stream from now on, with words that name somebody. */
  refuse(stream: number, status: number): void
  happen(step: Exclude<PrivacyStep, { do: 'sync' | 'treat' }>): void
  /** A configuration that reads the tenant under these settings. */
  config(treatment: Treatment): object
  /** The streams of the history that are offered under these settings. */
  offered(treatment: Treatment): string[]
  /** The rows of a stream as they are to be in a warehouse. */
  rows(stream: string, treatment: Treatment): Row[]
  /** Whether references changed when no record did, so that records may still have the former ones. */
  readonly areReferencesStale: boolean
  /** Those of the marks in a text that the service has sent and that these settings leave out. */
  leftOut(text: string, treatment: Treatment): string[]
  close(): Promise<void>
}

const PAIRS = ['payroll', 'hr', 'bank-account', '@badge-number', '@employee-number'].map(
  (name) => ({ collection: 'people', name }),
)
const RECENT_DAYS = 20
const DAY_MS = 86_400_000

export async function startMarkedTenant(history: PrivacyHistory): Promise<MarkedTenant> {
  const emulator = await startEmulator({ people: 0, months: 0, pageSize: history.pageSize })
  const writer = await startWriter(emulator.url, history.escapes)
  const streams = history.streams.map((name) => catalogue.get(name) as Stream)
  const marks = createMarks()
  /** Every version of every record, as JSON text. */
  const versions = new Map(history.streams.map((name) => [name, new Set<string>()]))
  const ever = new Set<string>()
  /** What the service says of people when it refuses. */
  const words = new Set<string>()
  let areReferencesStale = false
  // References are of people; they live whether their stream is read or not.
  for (let person = 1; person <= 3; person++)
    emulator.insert('people', { id: person, ...marks.record('people', []) })
  note()
  return {
    emulator,
    refuse,
    happen,
    config,
    offered: (treatment) => history.streams.filter((name) => isOffered(name, treatment)),
    rows,
    get areReferencesStale() {
      return areReferencesStale
    },
    leftOut,
    async close() {
      await writer.close()
      await emulator.close()
    },
  }

  function refuse(stream: number, status: number): void {
    const said = marks.text()
    ever.add(said)
    words.add(said)
    const { collection } = streams[stream % streams.length] as Stream
    const error = { code: 'BadRequest', message: `${said} has no department` }
    emulator.fail(new RegExp(`/${collection}([?/]|$)`), status, {
      times: 2,
      body: JSON.stringify({ error }),
    })
  }

  function happen(step: Exclude<PrivacyStep, { do: 'sync' | 'treat' }>): void {
    if (step.do === 'reference') reference(step.name, step.pick)
    else change(step)
    note()
  }

  function change(step: Extract<PrivacyStep, { stream: number }>): void {
    const { stream, collection, dateField, softDelete, nested } = streams[
      step.stream % streams.length
    ] as Stream
    if (nested !== undefined) {
      reference('payroll', step.pick)
      return
    }
    const stored = emulator.stored(collection)
    const record = stored[step.pick % Math.max(1, stored.length)]
    if (step.do === 'insert' || record === undefined) {
      const extras = step.do === 'insert' ? step.extras : []
      emulator.insert(collection, { ...days(dateField), ...marks.record(stream, extras) })
      return
    }
    const id = record['id'] as number
    if (step.do === 'update') emulator.update(collection, id, marks.record(stream, step.extras))
    else if (step.do === 'soft-delete' && softDelete) emulator.softDelete(collection, id)
    else emulator.remove(collection, id)
    // The references of people are also those of their records.
    if (collection === 'people') areReferencesStale = true
  }

  function days(dateField: string | undefined): object {
    if (dateField === undefined) return {}
    const at = new Date(emulator.now().getTime() - RECENT_DAYS * DAY_MS)
    const day = at.toISOString().slice(0, 10)
    return dateField === 'from' ? { from: day, until: day } : { [dateField]: day }
  }

  function reference(name: string, pick: number): void {
    const [person] = emulator.stored('people').slice(pick % 3)
    if (person === undefined) return
    emulator.setReference('people', name, marks.text(), person['id'] as number)
    areReferencesStale = true
  }

  function note(): void {
    for (const stream of streams) {
      const seen = versions.get(stream.stream) as Set<string>
      for (const record of [...raw(stream, PAIRS), ...deleted(stream)]) {
        const text = JSON.stringify(record)
        if (seen.has(text)) continue
        seen.add(text)
        for (const mark of marksIn(text)) ever.add(mark)
      }
    }
  }

  /** What is deleted softly is sent once more, with the references that its person has by then. */
  function deleted({ collection, softDelete }: Stream): Row[] {
    if (softDelete === undefined) return []
    const people = emulator.all('people', PAIRS)
    return emulator.stored(collection).flatMap((record) => {
      const { status, person } = record as { status?: unknown; person?: Row }
      const externalReferences = people.find(({ id }) => id === person?.['id'])?.[
        'externalReferences'
      ]
      return status === 'Deleted' ? [{ ...record, person: { ...person, externalReferences } }] : []
    })
  }

  function raw({ collection, nested, references }: Stream, wanted: typeof PAIRS): Row[] {
    if (nested === undefined) {
      const pairs = references?.includes('people') ? wanted : []
      return emulator.all(collection, pairs)
    }
    return referencedCollections.flatMap((name) =>
      emulator.references(name).map((one) => ({
        collection: name,
        name: one.referenceName,
        value: one.externalReference,
        internalReference: one.internalReference,
      })),
    )
  }

  function rows(name: string, treatment: Treatment): Row[] {
    const pairs = treatment.external_references.flatMap(({ collection, names }) =>
      names.map((one) => ({ collection, name: one })),
    )
    return raw(catalogue.get(name) as Stream, pairs).flatMap((record) => {
      const row = treated(name, record, treatment)
      return row === undefined ? [] : [row]
    })
  }

  function leftOut(text: string, treatment: Treatment): string[] {
    const found = [...marksIn(text)].filter((mark) => ever.has(mark))
    if (found.length === 0) return []
    const isNamed = ['complete', 'without_secrets'].includes(treatment.personal_data)
    const passed = new Set(isNamed ? words : [])
    for (const [stream, records] of versions) {
      if (!isOffered(stream, treatment)) continue
      for (const record of records) {
        const left = treated(stream, JSON.parse(record) as Row, treatment)
        for (const mark of marksIn(left ?? '')) passed.add(mark)
      }
    }
    return found.filter((mark) => !passed.has(mark))
  }

  function config(treatment: Treatment): object {
    const given = emulator.config()
    const { activity_structures: _, ...rest } = given
    return {
      ...rest,
      environment: { ...(given['environment'] as object), base_url: writer.url },
      start_date: undefined,
      concurrency: history.concurrency,
      request_timeout_seconds: 5,
      retry_minutes: 0.1,
      ...treatment,
    }
  }
}

/** Names of the protocol, which the service writes as they are documented. */
const OF_PAGES = new Set(['value', 'data', 'changeType', 'nextLink', 'deltaLink', 'error'])

/**
 * A service in front of another one that writes the same JSON otherwise: every so many-th name has an escaped letter and
 * blanks behind it. 0 leaves all as it is.
 */
async function startWriter(
  service: string,
  every: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  let names = 0
  let url = ''
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers
    const answer = await fetch(`${service}${request.url}`, { headers: { authorization } })
    const text = (await answer.text()).replaceAll(service, url)
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(every === 0 ? text : otherwise(text))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }

  function otherwise(text: string): string {
    return text.replace(/"((?:[^"\\]|\\.)*)"(:?)/g, (whole, name: string, colon: string) => {
      const isName = colon !== '' && /^[a-zA-Z@]/.test(name) && !OF_PAGES.has(name)
      if (!isName || ++names % every !== 0) return whole
      const at = names % name.length
      const letter = name.charCodeAt(at)
      if (letter > 126 || letter === 92 || name[at - 1] === '\\') return whole
      const escaped = `\\u${letter.toString(16).padStart(4, '0')}`
      return `"${name.slice(0, at)}${escaped}${name.slice(at + 1)}" : `
    })
  }
}
