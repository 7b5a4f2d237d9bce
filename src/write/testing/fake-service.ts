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
import { type Folding, folded, foldedBy } from '../../ground/text.ts'
import type { ObjectName, WriteRecord } from '../objects.ts'
import type { Outcome } from '../outcome.ts'
import type { WriteClient } from '../write-client.ts'
import { createWriter } from '../writer.ts'

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
  readonly blanks: Folding['blanks']
  /** Whether a numeric value is read as the id of a job category; the client refuses such an answer. */
  readonly readsDigits: boolean
  /** The status for a reference to a record that does not exist. */
  readonly unknownRecord: 404 | 400
  /** What is checked first if the record does not exist and the value is already linked. */
  readonly checkedFirst: 'record' | 'link'
}

/** When a process is killed: after a number of requests that deleted something, or that were refused. */
export interface Death {
  readonly after: 'delete' | 'refusal'
  readonly count: number
}

/** What goes wrong with a request, if anything. */
export type Fault =
  | 'none'
  /** The request is carried out, but its answer is lost; the client repeats idempotent requests. */
  | 'lost'
  /** A creation is carried out only after the process has ended, and its answer is lost. */
  | 'late'
  /** The request is lost, and the client gets no answer. */
  | 'lost-before'
  /** The process is killed before, or after, the request is carried out. */
  | 'kill-before'
  | 'kill-after'
  /** Another program changes something first. */
  | 'other'

/** Thrown where the process is killed, so that it does nothing afterwards. */
class Killed extends Error {}

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
  let late: (() => void)[] = []
  return {
    links,
    categories,
    locations,
    /** Each write that was requested, also if it was not carried out. */
    writes,
    linksOf: (collection: string, name: string) => stored.linksOf(collection, name),
    change: (seed: number) => stored.change(seed),
    connect,
    endLate,
  }

  /** Carries out the late creations. */
  function endLate(): void {
    for (const work of late) work()
    late = []
  }

  /** Creates the client of one process. Its requests get the faults in order, and none after the last fault. */
  function connect(faults: readonly Fault[] = [], death?: Death): WriteClient {
    endLate()
    const requests = new Requests(faults, death, {
      sent: (what) => void writes.push(what),
      late: (work) => void late.push(work),
      other: (seed) => stored.change(seed),
    })
    return createClient(stored, requests, options.lists)
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
    const { checkedFirst, unknownRecord, secondValue } = this.#options
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
    return 'id' in key ? key.id : this.linksOf('job-categories', key.name).get(key.value)
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
    const text = blanks === 'kept' ? this.#kept(value) : foldedBy(value, { case: false, blanks })
    return cases === 'lower' ? text.toLowerCase() : text
  }
}

/** What the faults of requests do outside of their process. */
interface Effects {
  /** A write was requested. */
  sent(what: string): void
  /** Work is carried out after the process has ended. */
  late(work: () => void): void
  /** Another program changes something. */
  other(seed: number): void
}

/** The requests of one process, with their faults, until it is killed. */
class Requests {
  readonly #faults: readonly Fault[]
  readonly #death: Death | undefined
  readonly #effects: Effects
  readonly #busy = new Set<string>()
  #count = 0
  #untilDeath: number
  #isDead = false

  constructor(faults: readonly Fault[], death: Death | undefined, effects: Effects) {
    this.#faults = faults
    this.#death = death
    this.#effects = effects
    this.#untilDeath = death?.count ?? 0
  }

  async send<T>(what: string, work: () => T): Promise<T> {
    if (this.#busy.has(what)) throw new Error(`Two requests at a time: ${what}`)
    this.#busy.add(what)
    if (this.#busy.size > 4) throw new Error('More than four requests at a time.')
    const fault = this.#faults[this.#count++] ?? 'none'
    // Parallel requests do not end in the order in which they began.
    for (let turns = this.#count % 3; turns >= 0; turns--) await Promise.resolve()
    this.#busy.delete(what)
    if (this.#isDead || fault === 'kill-before') throw this.#die()
    if (fault === 'other') this.#effects.other(this.#count)
    const isPost = what.startsWith('post')
    if (/^(put|delete|post) /.test(what)) this.#effects.sent(what)
    if (isPost && isLost(fault)) {
      if (fault === 'late') this.#effects.late(work)
      if (fault === 'lost') work()
      throw lost()
    }
    const done = work()
    if (fault === 'kill-after') throw this.#die()
    return fault === 'lost' ? work() : done
  }

  /** Notes that a request deleted something or was refused; throws if the process is killed by that. */
  note(what: Death['after']): void {
    if (this.#death?.after === what && --this.#untilDeath === 0) throw this.#die()
  }

  #die(): Killed {
    this.#isDead = true
    return new Killed()
  }
}

function isLost(fault: Fault): boolean {
  return fault === 'lost' || fault === 'late' || fault === 'lost-before'
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
      put: (wanted) =>
        requests.send(`put ${wanted.collection} ${wanted.value}`, () => {
          try {
            stored.putReference(wanted)
          } catch (error) {
            requests.note('refusal')
            throw error
          }
        }),
      remove: (collection, name, value) =>
        requests.send(`delete ${collection} ${value}`, () => {
          const result = stored.removeReference(collection, name, value)
          requests.note('delete')
          return result
        }),
    },
    jobCategories: {
      get: (key) => requests.send(`get category ${textOf(key)}`, () => stored.category(key)),
      put: (key, body, etag) =>
        requests.send(`put category ${textOf(key)}`, () => stored.putCategory(key, body, etag)),
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

function refused(reason: string, status = 400): ClientError {
  return new ClientError('config', 'x-test', 'refused', { status, reasons: [reason] })
}

function lost(): ClientError {
  return new ClientError('transient', 'x-test', 'no answer', { mayHaveHappened: true })
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
