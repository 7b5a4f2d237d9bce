import type { Config } from '../config/config.ts'
import { addDays, dayOf } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import type { Client } from '../http/client.ts'
import type { Endpoints } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import type { StatusKind } from '../http/status.ts'
import { referencePairs, slicesOf } from '../pages/slices.ts'
import type { Stream } from '../streams/collections.ts'

/** The result of a request for the first page of a stream's list. */
export type StreamAnswer =
  | { readonly kind: 'readable' }
  /** The stream cannot be read with this configuration. */
  | { readonly kind: 'refused'; readonly error: ConnectorError }
  /** Something other than the API has answered. */
  | { readonly kind: 'foreign' }
  /** The service offers no list. It may offer a delta, but only starting one would show that. */
  | { readonly kind: 'unlisted'; readonly error: HttpError }

export interface AskTools {
  readonly client: Client
  readonly endpoints: Endpoints
  readonly config: Config
  /** The service's current time. */
  readonly now: Date
}

/**
 * Requests the first page of a stream's list with the configured references; for one day if the stream has dates.
 * Never starts a delta. Throws only errors that are not failures of the service, such as the reason of an aborted
 * signal.
 */
export async function askStream(stream: Stream, tools: AskTools): Promise<StreamAnswer> {
  const { config } = tools
  const answer = await askWith(stream, config, tools)
  const pairs = referencePairs(stream, config)
  if (!isRefused(answer, 'bad request') || pairs.length === 0) return answer
  const without = await askWith(stream, { ...config, externalReferences: [] }, tools)
  if (without.kind !== 'readable') return answer
  const unknown = pairs.length === 1 ? pairs : await refusedPairs(stream, pairs, tools)
  return unknown.length === 0 ? answer : { kind: 'refused', error: unknownReferences(unknown) }
}

type Pair = readonly [collection: string, name: string]

/** The references that the service also refuses if each is requested alone. */
async function refusedPairs(
  stream: Stream,
  pairs: readonly Pair[],
  tools: AskTools,
): Promise<Pair[]> {
  const unknown: Pair[] = []
  for (const pair of pairs) {
    const [collection, name] = pair
    const config = { ...tools.config, externalReferences: [{ collection, names: [name] }] }
    if (isRefused(await askWith(stream, config, tools), 'bad request')) unknown.push(pair)
  }
  return unknown
}

function unknownReferences(pairs: readonly Pair[]): ConnectorError {
  const names = pairs.map(([collection, name]) => `${name} of ${collection}`).join(', ')
  return new ConnectorError(
    'config',
    'external-reference-refused',
    `The service refuses the external reference ${names}; correct external_references.`,
  )
}

async function askWith(stream: Stream, config: Config, tools: AskTools): Promise<StreamAnswer> {
  const slices = slicesOf(stream, yesterday(stream, tools.now), config, tools.endpoints)
  // The service may list the references of only some collections, but it must list all named structures.
  const isEnough = (answer: StreamAnswer) =>
    stream.nested === 'referenced_collections'
      ? !isRefused(answer, 'unknown')
      : answer.kind !== 'readable'
  let answer: StreamAnswer = { kind: 'readable' }
  for (const { link } of slices) {
    answer = await askLink(link, stream, tools.client)
    if (isEnough(answer)) break
  }
  return answer
}

async function askLink(
  link: string,
  { replication }: Stream,
  client: Client,
): Promise<StreamAnswer> {
  try {
    return { kind: (await client.probe(link)) ? 'readable' : 'foreign' }
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    const isUnlisted = error instanceof HttpError && error.is('not offered')
    return isUnlisted && replication === 'delta'
      ? { kind: 'unlisted', error }
      : { kind: 'refused', error }
  }
}

function isRefused(answer: StreamAnswer, kind: StatusKind): boolean {
  return answer.kind === 'refused' && answer.error instanceof HttpError && answer.error.is(kind)
}

function yesterday(stream: Stream, now: Date) {
  const day = addDays(dayOf(now), -1)
  return stream.dateField ? { from: day, until: day } : undefined
}
