import { readScope, type Service } from '../api/service.ts'
import { covers, type Token } from '../api/token.ts'
import type { Stream } from '../catalogue/collection.ts'
import type { Config } from '../config.ts'
import { ConnectorError, Refusal } from '../errors.ts'
import type { CheckResult } from '../protocol/outcome.ts'
import { addDays, dayOf } from './days.ts'
import { createSession, type SessionSettings } from './session.ts'
import { slicesOf } from './slices.ts'
import { refuseLateStart } from './start-date.ts'

/**
 * Takes a token without scopes and lists one page of one collection, because a token alone says
 * nothing of the tenant's host. Never starts a delta (design D1). Says what cannot be read.
 */
export async function checkService(
  streams: readonly Stream[],
  settings: SessionSettings,
): Promise<CheckResult> {
  const session = createSession(settings, undefined)
  const { client, service, clock } = session
  try {
    const token = await client.token()
    refuseLateStart(settings.config.startDate, clock.now())
    const [allowed, denied] = split(streams, token, service)
    if (allowed.length === 0) {
      return {
        isReadable: false,
        message: `The client may read nothing. ${missing(denied, service)}`,
      }
    }
    const refusals: string[] = []
    for (const stream of cheapestFirst(allowed)) {
      const [slice] = slicesOf(
        stream,
        yesterday(stream, clock.now()),
        probing(settings.config),
        service,
      )
      if (slice === undefined) continue
      const refusal = await client.probe(slice.link).then(() => undefined, refused)
      if (refusal === undefined)
        return { isReadable: true, message: readable(allowed, denied, service) }
      refusals.push(refusal)
    }
    return { isReadable: false, message: `No collection can be read. ${refusals[0] ?? ''}` }
  } finally {
    await session.close()
  }
}

function split(streams: readonly Stream[], token: Token, service: Service): [Stream[], Stream[]] {
  const mayRead = (stream: Stream) => covers(token, service, stream.scopes ?? [stream.collection])
  return [streams.filter(mayRead), streams.filter((stream) => !mayRead(stream))]
}

/** Undated, small collections first; the references last, because their bodies are not documented. */
function cheapestFirst(streams: readonly Stream[]): Stream[] {
  const cost = (stream: Stream) =>
    (stream.dated ? 2 : 0) + (stream.nested ? 4 : 0) + (stream.collection === 'people' ? 1 : 0)
  return [...streams].sort((a, b) => cost(a) - cost(b))
}

function yesterday(stream: Stream, now: Date) {
  const day = addDays(dayOf(now), -1)
  return stream.dated ? { from: day, until: day } : undefined
}

/** References that the tenant does not know would refuse the request for a reason of their own. */
function probing(config: Config): Config {
  return { ...config, externalReferences: [] }
}

/** A refusal is a reason to try the next collection; anything else ends the check. */
function refused(error: unknown): string {
  if (error instanceof Refusal && error.failure === 'config') return error.message
  throw error instanceof Error ? error : new ConnectorError('system', String(error))
}

function readable(allowed: readonly Stream[], denied: readonly Stream[], service: Service): string {
  const names = `${allowed.length} of ${allowed.length + denied.length} streams can be read.`
  return denied.length === 0 ? names : `${names} ${missing(denied, service)}`
}

function missing(denied: readonly Stream[], service: Service): string {
  const names = denied.map(
    ({ stream, scopes, collection }) =>
      `${stream} (${readScope(service, scopes?.[0] ?? collection)})`,
  )
  return `Not readable, because the client lacks the scope: ${names.join(', ')}.`
}
