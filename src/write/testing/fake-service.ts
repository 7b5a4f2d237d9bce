import { ClientError } from '../../client/client-error.ts'
import type {
  JobCategory,
  JobCategoryBody,
  RecordKey,
  Reference,
  WorkLocation,
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
export class Killed extends Error {}

interface StoredCategory extends JobCategoryBody {
  readonly version: number
}

/** The records 1 to this one exist. */
export const RECORDS = 6
/** Records with ids from this one to 99 exist, but the client has no access to them. */
export const FORBIDDEN = 60

/** Creates a service in memory. */
export function createFakeService(options: FakeOptions) {
  const links = new Map<string, Map<string, string>>()
  const categories = new Map<string, StoredCategory>()
  const locations = new Map<string, WorkLocation>()
  const writes: string[] = []
  let late: (() => void)[] = []
  const kept = (text: string) => (options.trims ? folded(text) : text)
  const keptValue = (value: string) => {
    const { blanks } = options
    const text = blanks === 'kept' ? kept(value) : foldedBy(value, { case: false, blanks })
    return options.cases === 'lower' ? text.toLowerCase() : text
  }
  return { links, linksOf, categories, locations, writes, connect, change, endLate }

  /** Carries out the late creations. */
  function endLate(): void {
    for (const work of late) work()
    late = []
  }

  /** The ids by value, for one name of a collection. */
  function linksOf(collection: string, name: string): Map<string, string> {
    const key = `${collection} ${name}`
    const found = links.get(key) ?? new Map<string, string>()
    links.set(key, found)
    return found
  }

  /** Changes something, as another program might; `seed` decides what. */
  function change(seed: number): void {
    const people = linksOf('people', 'hr')
    const value = `v\u00e9${seed % 5}`
    const id = String((seed % RECORDS) + 1)
    const same = linked(people, value)
    for (const [other, linkedId] of people)
      if (linkedId === id || other === same || folded(other) === value) people.delete(other)
    if (seed % 3 === 0) people.delete(value)
    else people.set(value, id)
    const category = categories.get(id)
    if (category !== undefined)
      categories.set(id, { ...category, externalCode: `theirs${seed}`, version: seed })
  }

  /** Creates the client of one process. Its requests get the faults in order, and none after the last fault. */
  function connect(faults: readonly Fault[] = [], death?: Death): WriteClient {
    endLate()
    let requests = 0
    let untilDeath = death?.count ?? 0
    let isDead = false
    const busy = new Set<string>()
    return {
      references: {
        list: async function* (collection, name) {
          await request(`list ${collection}`, () => {})
          if (options.lists === 'unreadable')
            throw new ClientError('system', 'x-test', 'not readable')
          if (options.lists === 'missing') throw refused('No such name.', 404)
          const found = [...linksOf(collection, name ?? '')]
          for (const [value, id] of found) yield reference(collection, name ?? '', value, id)
        },
        get: (collection, name, value) =>
          request(`get ${collection} ${value}`, () => {
            const known = linksOf(collection, name)
            const found = linked(known, value)
            const id = known.get(found)
            return id === undefined ? undefined : reference(collection, name, found, id)
          }),
        put: (wanted) =>
          request(
            `put ${wanted.collection} ${wanted.value}`,
            () => {
              try {
                putReference(wanted)
              } catch (error) {
                if (isDeathOf('refusal')) throw die()
                throw error
              }
            },
            true,
          ),
        remove: (collection, name, value) =>
          request(
            `delete ${collection} ${value}`,
            () => {
              const known = linksOf(collection, name)
              const isThere = known.delete(linked(known, value))
              if (isDeathOf('delete')) throw die()
              return isThere ? 'deleted' : 'absent'
            },
            true,
          ),
      },
      jobCategories: {
        get: (key) => request(`get category ${textOf(key)}`, () => getCategory(key)),
        put: (key, body, etag) =>
          request(`put category ${textOf(key)}`, () => putCategory(key, body, etag), true),
      },
      workLocations: {
        list: async function* () {
          await request('list locations', () => {})
          yield* [...locations.values()]
        },
        create: (body) =>
          request('post location', () => {
            const id = String(100 + locations.size)
            locations.set(id, { ...body, name: { default: kept(body.name.default) }, id })
            return { id }
          }),
      },
    }

    async function request<T>(what: string, work: () => T, isWrite = false): Promise<T> {
      if (busy.has(what)) throw new Error(`Two requests at a time: ${what}`)
      busy.add(what)
      if (busy.size > 4) throw new Error('More than four requests at a time.')
      const fault = faults[requests++] ?? 'none'
      // Parallel requests do not end in the order in which they began.
      for (let turns = requests % 3; turns >= 0; turns--) await Promise.resolve()
      busy.delete(what)
      if (isDead || fault === 'kill-before') throw die()
      if (fault === 'other') change(requests)
      const isPost = what.startsWith('post')
      if (isWrite || isPost) writes.push(what)
      if (isPost && fault === 'lost-before') throw lost()
      if (isPost && fault === 'late') {
        late.push(work)
        throw lost()
      }
      if (isPost && fault === 'lost') {
        work()
        throw lost()
      }
      const done = work()
      if (fault === 'kill-after') throw die()
      return fault === 'lost' ? work() : done
    }

    function isDeathOf(what: Death['after']): boolean {
      return death?.after === what && --untilDeath === 0
    }

    function die(): Killed {
      isDead = true
      return new Killed()
    }
  }

  function putReference({ collection, name, value: sent, internalReference: id }: Reference): void {
    const { checkedFirst, unknownRecord } = options
    const value = keptValue(sent)
    if (Number(id) >= FORBIDDEN && Number(id) < 100) throw refused('No access.', 403)
    const isUnknown = Number(id) > RECORDS && Number(id) < 100
    if (isUnknown && checkedFirst === 'record') throw refused('No such record.', unknownRecord)
    const known = linksOf(collection, name)
    const found = linked(known, value)
    const formerId = known.get(found)
    if (formerId !== undefined && formerId !== id) throw refused(`Delete ${value} first.`)
    if (isUnknown) throw refused('No such record.', unknownRecord)
    const other = [...known].find(([given, record]) => record === id && given !== found)
    if (other !== undefined && options.secondValue === 'conflict')
      throw refused('The record has another value.')
    if (other !== undefined) known.delete(other[0])
    known.delete(found)
    known.set(value, id)
  }

  /** The spelling in which the value is linked, or would be. */
  function linked(known: ReadonlyMap<string, string>, sent: string): string {
    const value = keptValue(sent)
    if (options.cases === 'two' || known.has(value)) return value
    return [...known.keys()].find((one) => one.toLowerCase() === value.toLowerCase()) ?? value
  }

  function getCategory(key: RecordKey): { record: JobCategory; etag?: string } | undefined {
    const id = idOf(key)
    const stored = categories.get(id ?? '')
    if (options.readsDigits && !('id' in key) && /^\d+$/.test(key.value))
      throw new ClientError('config', 'x-test', 'The service took a value for an id.')
    if (id === undefined || stored === undefined) return undefined
    const { version, ...body } = stored
    return { record: { id, ...body }, ...(options.hasEtags && { etag: String(version) }) }
  }

  function putCategory(key: RecordKey, body: JobCategoryBody, etag?: string): void {
    const id = idOf(key) ?? ''
    const stored = categories.get(id)
    if (stored === undefined)
      throw new ClientError('config', 'x-test', 'not found', { status: 404 })
    if (etag !== undefined && etag !== String(stored.version))
      throw new ClientError('transient', 'x-test', 'outdated', { status: 412 })
    const { name, externalCode, ...more } = body
    categories.set(id, {
      ...more,
      name: { ...name, default: kept(name.default) },
      ...(externalCode !== undefined && { externalCode: kept(externalCode) }),
      version: stored.version + 1,
    })
  }

  function idOf(key: RecordKey): string | undefined {
    return 'id' in key ? key.id : linksOf('job-categories', key.name).get(key.value)
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
