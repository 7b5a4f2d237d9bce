import { ClientError } from '../../client/client-error.ts'
import type {
  JobCategory,
  JobCategoryBody,
  RecordKey,
  Reference,
  WorkLocation,
  WorkLocationBody,
} from '../../client/service-client.ts'
import { parseWriteSettings, type WriteSettings } from '../../config/write-settings.ts'
import { folded } from '../../ground/text.ts'
import type { Time } from '../../http/clock.ts'
import { createJournal, type Journal } from '../journal.ts'
import type { ObjectName, WriteRecord } from '../objects.ts'
import type { Outcome } from '../outcome.ts'
import type { WriteClient } from '../write-client.ts'
import { createWriter } from '../writer.ts'
import { type Death, type Fault, Killed, Requests, refused } from './fake-requests.ts'

/** Undocumented behaviour, which may differ between services. */
export interface FakeOptions {
  /** What happens when a record that has a value gets another one. */
  readonly secondValue: 'replaces' | 'conflict'
  readonly hasEtags: boolean
  /** The answer to a request for a list: `missing` is a 404, `unreadable` an answer that the client cannot parse. */
  readonly lists: 'answer' | 'missing' | 'unreadable'
  /** Whether values and names are stored without spaces at the ends and in NFC. */
  readonly trims: boolean
  /** Whether values that differ only in case are `two` values or `one`; `lower`: one, stored in lower case. */
  readonly cases: 'two' | 'one' | 'lower'
  /** What happens to spaces within values. */
  readonly blanks: 'kept' | 'joined' | 'left out'
  /** The status with which it refuses every put of a reference while it deletes them; undefined if it does not. */
  readonly refusesPuts?: 400 | 409 | undefined
  /** Whether a numeric value is read as the id of a job category; the client refuses such an answer. */
  readonly readsDigits: boolean
  /** The status for a reference to a record that does not exist. */
  readonly unknownRecord: 404 | 400
  /** What is checked first if the record does not exist and the value is already linked. */
  readonly checkedFirst: 'record' | 'link'
}

interface StoredCategory extends JobCategoryBody {
  readonly version: number
}

/** The records 1 to this one exist. */
export const RECORDS = 6
/** Records with ids from this one to 99 exist, but the client has no access to them. */
export const FORBIDDEN = 60

/** Creates a service in memory. */
export function createFakeService(options: FakeOptions) {
  const stored = new StoredObjects(options)
  const { links, categories, locations } = stored
  const writes: string[] = []
  let now = 0
  let late: { readonly at: number; readonly work: () => void }[] = []
  return {
    /** What the runs of one machine have begun. */
    journal: lastingJournal(),
    links,
    categories,
    locations,
    /** Each write that was requested, also if it was not carried out. */
    writes,
    linksOf: (collection: string, name: string) => stored.linksOf(collection, name),
    change: (seed: number) => stored.change(seed),
    connect,
    pass,
  }

  /** Lets time pass: late requests are carried out. */
  function pass(ms: number): void {
    now += ms
    const due = late.filter(({ at }) => at <= now)
    late = late.filter(({ at }) => at > now)
    for (const { work } of due) work()
  }

  /** Creates the client of one process. Its requests get the faults in order, and none after the last fault. */
  function connect(faults: readonly Fault[] = [], death?: Death): WriteClient {
    const requests = new Requests(faults, death, {
      sent: (what) => {
        pass(10)
        writes.push(what)
      },
      late: (work, ms) => void late.push({ at: now + ms, work }),
      other: (seed) => stored.change(seed),
    })
    return createClient(stored, requests, options.lists)
  }
}

/** A journal that survives a process, as a file does. */
function lastingJournal(): Journal {
  const journal = createJournal()
  return {
    path: 'journal',
    get entries() {
      return journal.entries
    },
    add: journal.add,
    remove: journal.remove,
  }
}

/** What the service stores, and the rules by which it accepts changes. */
class StoredObjects {
  readonly links = new Map<string, Map<string, string>>()
  readonly categories = new Map<string, StoredCategory>()
  readonly locations = new Map<string, WorkLocation>()
  readonly #options: FakeOptions

  constructor(options: FakeOptions) {
    this.#options = options
  }

  /** The ids by value, for one name of a collection. */
  linksOf(collection: string, name: string): Map<string, string> {
    const key = `${collection} ${name}`
    const found = this.links.get(key) ?? new Map<string, string>()
    this.links.set(key, found)
    return found
  }

  /** Changes something, as another program might; `seed` decides what. */
  change(seed: number): void {
    const people = this.linksOf('people', 'hr')
    const value = `v\u00e9${seed % 5}`
    const id = String((seed % RECORDS) + 1)
    const same = this.#linked(people, value)
    for (const [other, linkedId] of people)
      if (linkedId === id || other === same || folded(other) === value) people.delete(other)
    if (seed % 3 === 0) people.delete(value)
    else people.set(value, id)
    const category = this.categories.get(id)
    if (category !== undefined)
      this.categories.set(id, { ...category, externalCode: `theirs${seed}`, version: seed })
  }

  references(collection: string, name: string): Reference[] {
    const links = [...this.linksOf(collection, name)]
    return links.map(([value, id]) => reference(collection, name, value, id))
  }

  reference(collection: string, name: string, value: string): Reference | undefined {
    const known = this.linksOf(collection, name)
    const found = this.#linked(known, value)
    const id = known.get(found)
    return id === undefined ? undefined : reference(collection, name, found, id)
  }

  putReference({ collection, name, value: sent, internalReference: id }: Reference): void {
    const { checkedFirst, unknownRecord, secondValue, refusesPuts } = this.#options
    if (refusesPuts !== undefined) throw refused('No puts.', refusesPuts)
    const value = this.#keptValue(sent)
    if (Number(id) >= FORBIDDEN && Number(id) < 100) throw refused('No access.', 403)
    const isUnknown = Number(id) > RECORDS && Number(id) < 100
    if (isUnknown && checkedFirst === 'record') throw refused('No such record.', unknownRecord)
    const known = this.linksOf(collection, name)
    const found = this.#linked(known, value)
    const formerId = known.get(found)
    if (formerId !== undefined && formerId !== id) throw refused(`Delete ${value} first.`)
    if (isUnknown) throw refused('No such record.', unknownRecord)
    const other = [...known].find(([given, record]) => record === id && given !== found)
    if (other !== undefined && secondValue === 'conflict')
      throw refused('The record has another value.')
    if (other !== undefined) known.delete(other[0])
    known.delete(found)
    known.set(value, id)
  }

  removeReference(collection: string, name: string, value: string): 'deleted' | 'absent' {
    const known = this.linksOf(collection, name)
    return known.delete(this.#linked(known, value)) ? 'deleted' : 'absent'
  }

  category(key: RecordKey): { record: JobCategory; etag?: string } | undefined {
    const { readsDigits, hasEtags } = this.#options
    const id = this.#idOf(key)
    const stored = this.categories.get(id ?? '')
    if (readsDigits && !('id' in key) && /^\d+$/.test(key.value))
      throw new ClientError('config', 'x-test', 'The service took a value for an id.')
    if (id === undefined || stored === undefined) return undefined
    const { version, ...body } = stored
    return { record: { id, ...body }, ...(hasEtags && { etag: String(version) }) }
  }

  putCategory(key: RecordKey, body: JobCategoryBody, etag?: string): void {
    const id = this.#idOf(key) ?? ''
    const stored = this.categories.get(id)
    if (stored === undefined)
      throw new ClientError('config', 'x-test', 'not found', { status: 404 })
    if (etag !== undefined && etag !== String(stored.version))
      throw new ClientError('transient', 'x-test', 'outdated', { status: 412 })
    const { name, externalCode, ...more } = body
    this.categories.set(id, {
      ...more,
      name: { ...name, default: this.#kept(name.default) },
      ...(externalCode !== undefined && { externalCode: this.#kept(externalCode) }),
      version: stored.version + 1,
    })
  }

  createLocation(body: WorkLocationBody): { readonly id: string } {
    const id = String(100 + this.locations.size)
    this.locations.set(id, { ...body, name: { default: this.#kept(body.name.default) }, id })
    return { id }
  }

  #idOf(key: RecordKey): string | undefined {
    if ('id' in key) return key.id
    const known = this.linksOf('job-categories', key.name)
    return known.get(this.#linked(known, key.value))
  }

  /** The spelling in which the value is linked, or would be. */
  #linked(known: ReadonlyMap<string, string>, sent: string): string {
    const value = this.#keptValue(sent)
    if (this.#options.cases === 'two' || known.has(value)) return value
    return [...known.keys()].find((one) => one.toLowerCase() === value.toLowerCase()) ?? value
  }

  #kept(text: string): string {
    return this.#options.trims ? folded(text) : text
  }

  #keptValue(value: string): string {
    const { blanks, cases } = this.#options
    const joint = blanks === 'joined' ? ' ' : ''
    const text = blanks === 'kept' ? this.#kept(value) : folded(value).replace(/\s+/gu, joint)
    return cases === 'lower' ? text.toLowerCase() : text
  }
}

/** Creates the client that makes these requests. */
function createClient(
  stored: StoredObjects,
  requests: Requests,
  lists: FakeOptions['lists'],
): WriteClient {
  return {
    references: {
      list: async function* (collection, name = '') {
        await requests.send(`list ${collection}`, () => {})
        if (lists === 'unreadable') throw new ClientError('system', 'x-test', 'not readable')
        if (lists === 'missing') throw refused('No such name.', 404)
        yield* stored.references(collection, name)
      },
      get: (collection, name, value) =>
        requests.send(`get ${collection} ${value}`, () =>
          stored.reference(collection, name, value),
        ),
      find: async (_, name, value) => (name === '@number' ? value.replace('N', '') : undefined),
      put: (wanted, options) => {
        const work = () => {
          try {
            stored.putReference(wanted)
          } catch (error) {
            requests.note('refusal')
            throw error
          }
        }
        return requests.send(`put ${wanted.collection} ${wanted.value}`, work, options)
      },
      remove: (collection, name, value, options) => {
        const work = () => {
          const result = stored.removeReference(collection, name, value)
          requests.note('delete')
          return result
        }
        return requests.send(`delete ${collection} ${value}`, work, options)
      },
    },
    jobCategories: {
      get: (key) => requests.send(`get category ${textOf(key)}`, () => stored.category(key)),
      put: (key, body, etag, options) =>
        requests.send(
          `put category ${textOf(key)}`,
          () => stored.putCategory(key, body, etag),
          options,
        ),
    },
    workLocations: {
      list: async function* () {
        await requests.send('list locations', () => {})
        yield* [...stored.locations.values()]
      },
      create: (body) => requests.send('post location', () => stored.createLocation(body)),
    },
  }
}

function reference(collection: string, name: string, value: string, id: string): Reference {
  return { collection, name, value, internalReference: id }
}

function textOf(key: RecordKey): string {
  return 'id' in key ? key.id : `${key.name} ${key.value}`
}

export type FakeService = ReturnType<typeof createFakeService>

/** The records of one run, and the settings that differ from the defaults. */
export interface RunInput {
  readonly service: FakeService
  readonly object: ObjectName
  readonly records: readonly Pick<WriteRecord, 'data' | 'isDelete'>[]
  readonly settings?: object
  readonly faults?: readonly Fault[]
  readonly death?: Death | undefined
  readonly batchSize?: number
  readonly showValues?: boolean
  /** By default, that of the machine of the service's runs. */
  readonly journal?: Journal
  /** By default, the time of the service. */
  readonly time?: Pick<Time, 'sleep'>
}

/** Writes the records in one run. Returns the outcomes that were reported; after a kill, some are missing. */
export async function write(input: RunInput): Promise<Outcome[]> {
  const { service, object, records, settings = {}, faults, death, ...options } = input
  const outcomes: Outcome[] = []
  const writer = createWriter({
    client: service.connect(faults, death),
    settings: parseWriteSettings(settings),
    onOutcome: (outcome) => void outcomes.push(outcome),
    signal: new AbortController().signal,
    journal: service.journal,
    time: { sleep: async (ms) => service.pass(ms) },
    ...options,
  })
  try {
    for (const [ordinal, record] of records.entries())
      await writer.add({ ...record, object, ordinal })
    await writer.flush()
    if ((settings as Partial<WriteSettings>).mirror) await writer.mirror(object)
  } catch (error) {
    if (!(error instanceof Killed)) throw error
  }
  return outcomes
}
