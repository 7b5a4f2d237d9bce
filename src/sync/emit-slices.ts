import { HttpError } from '../http/http-error.ts'
import { emitPages } from './emit-pages.ts'
import type { Place } from './live-keys.ts'
import type { Link } from './position.ts'
import type { Slice } from './slices.ts'
import type { StreamContext } from './stream-context.ts'

/** Where a listing stands: its slice and the page of it, null for the first. */
export interface Listing {
  readonly slice: string | null
  readonly page: Link | null
}

/** Writes the records of lists from where the listing stands, and yields where it stands after each page. */
export async function* emitSlices(
  slices: readonly Slice[],
  { slice: at, page: stored }: Listing,
  place: Place,
  context: StreamContext,
): AsyncGenerator<Listing, void> {
  const { stream } = context.reading
  const first = slices.findIndex(({ key }) => key === at)
  let page = first < 0 ? null : stored
  let refusals = 0
  for (const [i, { key, link }] of slices.entries()) {
    if (i < first) continue
    const kind = page === null ? 'list' : 'next'
    try {
      for await (const end of emitPages(page?.url ?? link, kind, context, { place, slice: key })) {
        if (end.nextLink === undefined) continue
        yield { slice: key, page: { url: end.nextLink, at: context.clock.now() } }
      }
    } catch (error) {
      // Not every collection that has references is documented to list them here.
      if (stream.nested !== 'referenced_collections' || !isUnknown(error)) throw error
      // Refused everywhere is not offered; an empty list would delete all that there was.
      if (++refusals === slices.length) throw error
      keepReferences(key, error, context)
    }
    page = null
    const next = slices[i + 1]
    if (next !== undefined) yield { slice: next.key, page }
  }
}

function isUnknown(error: unknown): error is HttpError {
  return error instanceof HttpError && (error.status === 400 || error.status === 404)
}

/** What was not listed may live: its rows stay, those that a generation would end included. */
function keepReferences(
  collection: string,
  error: HttpError,
  { reading, log }: StreamContext,
): void {
  const { stream, keys, mode } = reading
  const kept = keys.keepUnseen('window', (key) => JSON.parse(String(key))[0] === collection)
  const what = `${stream.stream}: the service did not list the references of ${collection} this time`
  if (kept > 0) {
    reading.keepOlder()
    log.warn(
      `${what}, so the ${kept} that the warehouse may have stay as they are. ${error.message}`,
    )
  } else if (mode === 'full_refresh') {
    log.warn(`${what}, so this full refresh has none of them. ${error.message}`)
  } else log.info(`${what}. ${error.message}`)
}
