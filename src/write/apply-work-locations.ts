import { ClientError } from '../client/client-error.ts'
import { LATE_MS, type WorkLocation, type WorkLocationBody } from '../client/service-client.ts'
import { folded } from '../ground/text.ts'
import { statusIs } from '../http/status.ts'
import {
  areSame,
  EMPTY,
  fieldsOf,
  mergeNamed,
  type NamedChange,
  type NamedFields,
  nameOf,
} from './apply-job-categories.ts'
import type { PendingCreation } from './journal.ts'
import type { ObjectTools } from './object-tools.ts'
import { refusalOf, type Verdict } from './outcome.ts'
import { type ByReference, NAMELESS, type WantedNamed } from './read-record.ts'
import { type CachedLinks, lookUpReference } from './service-cache.ts'

const COLLECTION = 'work-locations'

/**
 * Creates each work location once, and recognises it by its custom reference. It works one after another, so
 * a lost answer leaves at most one work location without its reference.
 */
export async function applyWorkLocations(
  changes: readonly NamedChange[],
  tools: ObjectTools,
): Promise<void> {
  if (!tools.settings.dryRun) await lookForEarlier(tools)
  for (const { ordinal, wanted } of changes)
    tools.settle(ordinal, await place(wanted, tools).catch(refusalOf))
}

/** How often to look for a work location that may still be created. */
const LOOK_MS = 1000

/**
 * Waits until what an earlier run has requested is in the list, or does not come any more. When that run ended is not
 * known; its lock shows that it is over.
 */
async function lookForEarlier(tools: ObjectTools): Promise<void> {
  const { cache, journal } = tools
  const earlier = journal.entries.filter(
    (entry) => entry.kind === 'creation' && !cache.unconfirmed.has(entry),
  ) as PendingCreation[]
  if (earlier.length === 0) return
  await lookFor(earlier, tools, LATE_MS)
  for (const entry of earlier) await journal.remove(entry)
}

/**
 * Reads the list until it has work locations of each name, for so many milliseconds. Returns those of the first one.
 */
async function lookFor(
  entries: readonly PendingCreation[],
  tools: ObjectTools,
  patience: number,
): Promise<WorkLocation[]> {
  const { cache, time, signal } = tools
  for (let left = patience; ; left -= LOOK_MS) {
    await cache.readWorkLocations()
    const found: WorkLocation[][] = []
    for (const { reference, name } of entries)
      found.push(await namesakesOf(name, await cache.links(COLLECTION, reference), tools))
    if (left <= 0 || found.every(({ length }) => length > 0)) return found[0] ?? []
    await time.sleep(Math.min(left, LOOK_MS), signal)
  }
}

/** A work location that must exist under a reference. */
interface Creation {
  readonly name: string
  readonly value: string
  readonly fields: NamedFields
  readonly links: CachedLinks
}

/** Finds the work location of a record, or creates it. */
async function place(wanted: WantedNamed, tools: ObjectTools): Promise<Verdict> {
  const { cache } = tools
  const { key } = wanted
  await cache.workLocations()
  if ('id' in key) return compareById(key.id, wanted, tools)
  const fields = mergeNamed(EMPTY, wanted, 'keep')
  if (fields.defaultName === '') return NAMELESS
  if ([...cache.unconfirmed].some((one) => isFor(one, key))) return EARLIER_WAITS
  const links = await cache.links(COLLECTION, key.name)
  const value = links.spelled(key.value)
  return byReference({ name: key.name, value, fields, links }, wanted, tools)
}

/** References beside the id must belong to the same work location. */
async function compareById(
  id: string,
  wanted: WantedNamed,
  { client, cache }: ObjectTools,
): Promise<Verdict> {
  for (const { name, value } of wanted.also) {
    const links = await cache.links(COLLECTION, name)
    const spelled = links.spelled(value)
    const linked =
      links.idOf(spelled) ??
      (await client.references.get(COLLECTION, name, spelled))?.internalReference
    if (linked === null) return UNREADABLE
    if (linked !== undefined && linked !== id)
      return {
        outcome: 'rejected',
        reason: `The id and the external reference ${name} identify different work locations. Leave out the one that is wrong.`,
        ids: [id, linked],
      }
  }
  return compare((await cache.workLocations()).get(id), wanted)
}

async function byReference(
  creation: Creation,
  wanted: WantedNamed,
  tools: ObjectTools,
): Promise<Verdict> {
  const { client, cache } = tools
  const { name, value, links } = creation
  const id = links.idOf(value)
  if (id !== undefined) return compare((await cache.workLocations()).get(id), wanted)
  // Nothing is created before the service has confirmed that the reference is free.
  const found = await client.references.get(COLLECTION, name, value)
  if (found === undefined) return adoptOrCreate(creation, tools)
  if (found.internalReference === null) return UNREADABLE
  links.link(value, found.internalReference)
  return compare((await cache.readWorkLocations()).get(found.internalReference), wanted)
}

async function adoptOrCreate(creation: Creation, tools: ObjectTools): Promise<Verdict> {
  const { cache } = tools
  const { fields, links } = creation
  if (cache.refused.delete(folded(fields.defaultName))) await cache.readWorkLocations()
  const namesakes = await namesakesOf(fields.defaultName, links, tools)
  if (namesakes.length > 1 || (namesakes.length === 1 && !links.isComplete))
    return ambiguous(namesakes)
  const [namesake] = namesakes
  if (namesake === undefined) return create(creation, tools)
  return register(creation, namesake.id, adopted(namesake, fields), tools)
}

function adopted(namesake: WorkLocation, fields: NamedFields): Verdict {
  if (areSame(fieldsOfLocation(namesake), fields)) return { outcome: 'adopted' }
  return { outcome: 'adopted', reason: DIFFERENT }
}

/**
 * Requests a creation once, and looks for the work location if the answer does not say what happened. Until that is
 * known, it is in the journal.
 */
async function create(creation: Creation, tools: ObjectTools): Promise<Verdict> {
  const { cache, journal, settings } = tools
  const { fields, name: reference, value } = creation
  const name = fields.defaultName
  const entry: PendingCreation = { kind: 'creation', reference, value, name }
  // Later, the two could not be distinguished.
  if ([...cache.unconfirmed].some((one) => folded(one.name) === folded(name))) {
    cache.unconfirmed.add(entry)
    return UNCONFIRMED_NAMESAKE
  }
  const description = fields.text !== '' && { description: fields.text }
  const body = { name: nameOf(fields), ...description }
  if (!settings.dryRun) await journal.add(entry)
  const created = await tryToCreate(body, fields, tools).catch(async (error: unknown) => {
    if (error instanceof ClientError) await journal.remove(entry)
    throw error
  })
  // A journal that lasts leaves the wait to the next run.
  const patience = journal.path === undefined ? LATE_MS : 0
  const namesakes = created.id === undefined ? await lookOnce([entry], tools, patience) : []
  const id = created.id ?? namesakes[0]?.id
  if (id === undefined) {
    cache.unconfirmed.add(entry)
    return unconfirmed(created.failure)
  }
  if (!settings.dryRun) await journal.remove(entry)
  if (namesakes.length > 1) return ambiguous(namesakes)
  const locations = await cache.workLocations()
  locations.set(id, { ...body, id })
  return register(creation, id, { outcome: 'created' }, tools)
}

/** Requests a creation. Without an id, the service has not said what happened. Throws if nothing was created. */
async function tryToCreate(
  body: WorkLocationBody,
  { defaultName }: NamedFields,
  { client, cache }: ObjectTools,
): Promise<{ readonly id?: string | undefined; readonly failure?: ClientError }> {
  try {
    return await client.workLocations.create(body)
  } catch (error) {
    if (error instanceof ClientError) cache.refused.add(folded(defaultName))
    if (error instanceof ClientError && error.mayHaveHappened) return { failure: error }
    throw error
  }
}

/** Like `lookFor`; nothing is found if the list cannot be read. */
async function lookOnce(...what: Parameters<typeof lookFor>): Promise<WorkLocation[]> {
  try {
    return await lookFor(...what)
  } catch (error) {
    if (error instanceof ClientError) return []
    throw error
  }
}

/**
 * Work locations with the same name that may be the wanted one: those that have no value of the reference.
 */
async function namesakesOf(
  name: string,
  links: CachedLinks,
  { cache }: ObjectTools,
): Promise<WorkLocation[]> {
  const locations = await cache.workLocations()
  return [...locations.values()].filter(
    (one) =>
      folded(one.name?.default ?? '') === folded(name) && links.valueOfId(one.id) === undefined,
  )
}

/** Puts the reference of a work location. Returns the verdict, unless the service refuses the reference. */
async function register(
  creation: Creation,
  id: string,
  verdict: Verdict,
  tools: ObjectTools,
): Promise<Verdict> {
  const { name, value, links } = creation
  const reference = { collection: COLLECTION, name, value, internalReference: id }
  let isUncertain = false
  const onUncertain = () => {
    isUncertain = true
  }
  try {
    await tools.client.references.put(reference, { onUncertain })
  } catch (error) {
    const refusal = refusalOf(error)
    const isLinked = statusIs(refusal.status, 'linked')
    const found = isLinked && (await lookUpReference(tools.client, COLLECTION, name, value))
    if (!found || found === 'unanswered' || found.id === id)
      return {
        ...refusal,
        reason: `The reference of work location ${id} was refused: ${refusal.reason}`,
        ids: [id],
      }
    links.link(value, found.id)
    return { ...refusal, reason: linkedMeanwhile(found.id, id, verdict), ids: [found.id, id] }
  }
  const held = isUncertain ? await lookUpReference(tools.client, COLLECTION, name, value) : { id }
  if (held === 'unanswered' || held?.id !== id)
    return {
      outcome: 'unknown',
      reason: `The service did not confirm the reference of work location ${id}, and does not have it yet. Write the record again later.`,
      ids: [id],
    }
  links.link(value, id)
  return verdict
}

function isFor(entry: PendingCreation, { name, value }: ByReference): boolean {
  return entry.reference === name && folded(entry.value) === folded(value)
}

function compare(location: WorkLocation | undefined, wanted: WantedNamed): Verdict {
  if (location === undefined) return ABSENT
  const current = fieldsOfLocation(location)
  if (areSame(current, mergeNamed(current, wanted, 'keep'))) return { outcome: 'skipped' }
  return { outcome: 'rejected', reason: DIFFERENT }
}

function fieldsOfLocation({ name, description }: WorkLocation): NamedFields {
  return fieldsOf({ name, text: description })
}

function ambiguous(locations: readonly WorkLocation[]): Verdict {
  const ids = locations.map(({ id }) => id)
  return {
    outcome: 'ambiguous',
    reason:
      ids.length === 1
        ? `The work location ${ids[0]} has this name, and the service does not say whether it has another reference: register the reference for it if it is the right one.`
        : `The work locations ${ids.join(', ')} have this name: register the reference for the right one.`,
    ids,
  }
}

function linkedMeanwhile(holder: string, id: string, { outcome }: Verdict): string {
  const made = `Meanwhile somebody else has registered the reference for work location ${holder}.`
  if (outcome !== 'created') return `${made} Work location ${id} of the same name has none.`
  return `${made} Work location ${id}, which was created for this record, has none and this API cannot delete it: delete it in the application. Let one run write at a time.`
}

const DIFFERENT =
  'The work location differs from the record. Work locations cannot be changed by this API.'
const ABSENT: Verdict = {
  outcome: 'rejected',
  reason:
    'There is no work location with this id, or with the id for which the reference is registered. The service assigns ids itself.',
}
const UNCONFIRMED =
  'The service did not say whether it has created the work location, and its list does not have it yet. This run does not create it again, because that could create it twice: a later run finds it, or creates it.'

/** The verdict on a creation that was answered by this failure, or without an id. */
function unconfirmed(failure: ClientError | undefined): Verdict {
  if (failure === undefined) return { outcome: 'unknown', reason: UNCONFIRMED }
  const { status, message } = failure
  const reason = `${message} ${UNCONFIRMED}`
  return { outcome: 'unknown', reason, ...(status !== undefined && { status }) }
}
const EARLIER_WAITS: Verdict = {
  outcome: 'unknown',
  reason:
    'An earlier record with the same reference waits for a later run, because the service did not say what it has created. This record waits, too.',
}
const UNCONFIRMED_NAMESAKE: Verdict = {
  outcome: 'unknown',
  reason:
    'The service did not say whether it has created another work location of this name, which could not be distinguished from this one. A later run creates it.',
}
const UNREADABLE: Verdict = {
  outcome: 'rejected',
  reason: 'The service did not say in a known form which work location has this reference.',
}
