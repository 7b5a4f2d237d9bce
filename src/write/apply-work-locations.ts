import { ClientError } from '../client/client-error.ts'
import type { WorkLocation } from '../client/service-client.ts'
import { statusIs } from '../http/status.ts'
import type { NamedChange } from './apply-job-categories.ts'
import {
  EMPTY,
  fieldsOf,
  isEqual,
  mergeNamed,
  type NamedFields,
  nameOf,
} from './change-job-category.ts'
import { refusalOf, type Verdict } from './outcome.ts'
import { NAMELESS, type WantedNamed } from './read-record.ts'
import type { CachedLinks, ServiceCache } from './service-cache.ts'
import type { WriteClient } from './write-client.ts'

/** What records of work locations are applied with. */
export interface WorkLocationTools {
  readonly client: WriteClient
  readonly cache: ServiceCache
  /** Told once for each record, when its verdict is final. */
  readonly settle: (ordinal: number, verdict: Verdict) => void
}

const COLLECTION = 'work-locations'
/** How often a creation is asked for while the service answers that it failed. */
const ATTEMPTS = 3

/**
 * Creates each work location once, and knows it again by its custom reference. One after another: so a
 * lost answer leaves at most one work location that has no reference yet.
 */
export async function applyWorkLocations(
  changes: readonly NamedChange[],
  { client, cache, settle }: WorkLocationTools,
): Promise<void> {
  for (const { ordinal, wanted } of changes) {
    settle(ordinal, await place(wanted).catch(refusalOf))
  }

  async function place(wanted: WantedNamed): Promise<Verdict> {
    const { key } = wanted
    const locations = await cache.workLocations()
    if ('id' in key) return compare(locations.get(key.id), wanted)
    const fields = mergeNamed(EMPTY, wanted, 'keep')
    if (fields.defaultName === '') return NAMELESS
    if (cache.unconfirmed.has(textOf(key))) return UNANSWERED
    const links = await cache.links(COLLECTION, key.name)
    const id = links.idOf(key.value)
    if (id !== undefined) return compare(locations.get(id), wanted)
    // Nothing is created before the service itself has said that the reference is free.
    const found = await client.references.get(COLLECTION, key.name, key.value)
    if (found === undefined) return adoptOrCreate({ ...key, fields, links })
    if (found.internalReference === null) return UNREADABLE
    links.link(key.value, found.internalReference)
    return compare((await cache.readWorkLocations()).get(found.internalReference), wanted)
  }

  async function adoptOrCreate(creation: Creation): Promise<Verdict> {
    const { fields } = creation
    const namesakes = await namesakesOf(creation)
    if (namesakes.length > 1 || (namesakes.length === 1 && !creation.links.isComplete))
      return AMBIGUOUS
    const [namesake] = namesakes
    if (namesake === undefined) return create(creation)
    const isDifferent = !isEqual(fieldsOfLocation(namesake), fields)
    return register(creation, namesake.id, {
      outcome: 'adopted',
      ...(isDifferent && { reason: `The work location differs from the record. ${UNCHANGEABLE}` }),
    })
  }

  async function create(creation: Creation): Promise<Verdict> {
    const { fields } = creation
    const text = fields.text !== '' && { description: fields.text }
    const body = { name: nameOf(fields), ...text }
    for (let attempt = 1; ; attempt++) {
      let id: string | undefined
      let lost: ClientError | undefined
      try {
        id = (await client.workLocations.create(body)).id
      } catch (error) {
        if (!(error instanceof ClientError && error.mayHaveHappened)) throw error
        lost = error
      }
      if (id === undefined) {
        await cache.readWorkLocations()
        const namesakes = await namesakesOf(creation)
        if (namesakes.length > 1) return AMBIGUOUS
        id = namesakes[0]?.id
      }
      if (id !== undefined) {
        const locations = await cache.workLocations()
        locations.set(id, { ...body, id })
        return register(creation, id, { outcome: 'created' })
      }
      // The service behind a gateway may still be at work.
      const isAnswered = lost?.status !== undefined && !statusIs(lost.status, 'gateway')
      if (isAnswered && attempt < ATTEMPTS) continue
      cache.unconfirmed.add(textOf(creation))
      return UNANSWERED
    }
  }

  /** Work locations of the same name that may be the one that is wanted: nobody else's of the key. */
  async function namesakesOf({ fields, links }: Creation): Promise<WorkLocation[]> {
    const locations = await cache.workLocations()
    return [...locations.values()].filter(
      ({ id, name }) => name?.default === fields.defaultName && links.valueOfId(id) === undefined,
    )
  }

  async function register(
    { name, value, links }: Creation,
    id: string,
    verdict: Verdict,
  ): Promise<Verdict> {
    const reference = { collection: COLLECTION, name, value, internalReference: id }
    try {
      await client.references.put(reference)
    } catch (error) {
      const refusal = refusalOf(error)
      const reason = `The reference of work location ${id} was refused: ${refusal.reason}`
      return { ...refusal, reason }
    }
    links.link(value, id)
    return verdict
  }
}

/** A work location that has to be there under a reference. */
interface Creation {
  readonly name: string
  readonly value: string
  readonly fields: NamedFields
  readonly links: CachedLinks
}

function textOf({ name, value }: Pick<Creation, 'name' | 'value'>): string {
  return JSON.stringify([name, value])
}

function compare(location: WorkLocation | undefined, wanted: WantedNamed): Verdict {
  if (location === undefined) return UNKNOWN
  const current = fieldsOfLocation(location)
  const isEqualToRecord = isEqual(current, mergeNamed(current, wanted, 'keep'))
  return isEqualToRecord ? { outcome: 'skipped' } : CHANGED
}

function fieldsOfLocation({ name, description }: WorkLocation): NamedFields {
  return fieldsOf({ name, text: description })
}

const UNCHANGEABLE = 'Work locations cannot be changed by this API.'
const CHANGED: Verdict = {
  outcome: 'rejected',
  reason: `The work location differs from the record. ${UNCHANGEABLE}`,
}
const UNKNOWN: Verdict = {
  outcome: 'rejected',
  reason:
    'There is no work location with this id, or with the id that the reference is registered for; the service gives ids itself.',
}
const AMBIGUOUS: Verdict = {
  outcome: 'rejected',
  reason:
    'Several work locations have this name and may be the one that is meant: register the reference for one of them.',
}
const UNANSWERED: Verdict = {
  outcome: 'rejected',
  reason:
    'The service did not confirm the creation, and the work location is not in its list. No other request is made now, so that none is created twice: write the record again later.',
}
const UNREADABLE: Verdict = {
  outcome: 'rejected',
  reason: 'The service did not say in a known form which work location has this reference.',
}
