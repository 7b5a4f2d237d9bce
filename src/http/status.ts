import type { FailureType } from '../ground/errors.ts'
import type { FailureId } from '../ground/message-ids.ts'

/** What a status can mean for whoever sent the request. */
export type StatusKind =
  /** A repetition may heal it. */
  | 'retryable'
  /** The service may have done what was asked for. */
  | 'uncertain'
  /** Nothing was done, as the service documents it; whatever else answers a POST says nothing of what was done. */
  | 'nothing done'
  /** Of a gateway: the service may have answered, and only its answer was lost. */
  | 'gateway'
  /** The service asks for fewer requests; some statuses say so only with a Retry-After. */
  | 'rate limit'
  | 'rate limit with Retry-After'
  /** With a Location, the address of what was asked for by a GET, or by any method. */
  | 'redirect of GET'
  | 'redirect'
  /** A new token may be taken. */
  | 'expired token'
  /** The client lacks a scope or a permission. */
  | 'permission'
  /** A token that is good does not give access to what was asked for. */
  | 'no access'
  /** The request cannot be right as it is, whatever it is about. */
  | 'bad request'
  /** There is no such record. */
  | 'missing'
  /** The tenant or the API does not have the collection, or not this operation of it. */
  | 'not offered'
  /** The service does not know something that the request names, such as a collection of references. */
  | 'unknown'
  /** Two requests contradict each other. */
  | 'conflict'
  /** The service has forgotten what a good link of its own stands for. */
  | 'expired'
  /** A link of the service is of no use, now or any more. */
  | 'dead link'
  /** Somebody else has written the record since it was read. */
  | 'outdated'
  /** The value of a reference may be linked to another record, or the record to another value. */
  | 'linked'
  /** About the one record that was sent. */
  | 'of record'
  /** Every record of the same kind would get it. */
  | 'of object'

/** What a status means, and who has to act. */
export interface StatusMeaning {
  readonly failure: FailureType
  readonly id: FailureId
  /** A sentence without its full stop. */
  readonly words: string
  /** The same for somebody who asked for one record. */
  readonly wordsOfRecord?: string
  /** A sentence that follows, with a space before it. */
  readonly advice?: string
  readonly is: readonly StatusKind[]
}

const NOT_OFFERED = 'The service does not offer this to your tenant or API'
const UNEXPECTED: StatusMeaning = {
  failure: 'system',
  id: 'unexpected-status',
  words: 'The service answered with an unexpected status',
  advice:
    ' Check the address and any proxies; if they are right, tell the operator of the service.',
  is: [],
}
const UNEXPECTED_FOR_NOW = {
  failure: 'transient',
  id: 'service-fails',
  words: 'The service answered with an unexpected status',
} as const
const FAILS = { failure: 'transient', id: 'service-fails', words: 'The service fails' } as const

/** The only place that knows statuses; docs/service.md has those that the service documents. */
const MEANINGS: Readonly<Record<number, StatusMeaning>> = {
  301: { ...UNEXPECTED, is: ['redirect of GET'] },
  302: { ...UNEXPECTED, is: ['redirect of GET'] },
  303: { ...UNEXPECTED, is: ['redirect of GET'] },
  307: { ...UNEXPECTED, is: ['redirect of GET', 'redirect'] },
  308: { ...UNEXPECTED, is: ['redirect of GET', 'redirect'] },
  400: {
    failure: 'config',
    id: 'request-not-accepted',
    words: 'The service does not accept the request',
    is: ['bad request', 'nothing done', 'unknown', 'dead link', 'linked', 'of record'],
  },
  401: {
    failure: 'config',
    id: 'token-not-accepted',
    words:
      'The service does not accept the access token, not even a new one; the client lacks a permission',
    is: ['expired token', 'nothing done', 'permission', 'of object'],
  },
  403: {
    failure: 'config',
    id: 'no-access',
    words: 'The client has no access',
    wordsOfRecord: 'The client has no access to this record',
    is: ['permission', 'nothing done', 'no access', 'of record'],
  },
  404: {
    failure: 'config',
    id: 'not-offered',
    words: NOT_OFFERED,
    wordsOfRecord:
      'There is no such record, or the service does not offer this to your tenant or API',
    is: ['missing', 'nothing done', 'not offered', 'unknown', 'dead link', 'of record'],
  },
  405: {
    failure: 'config',
    id: 'not-offered',
    words: NOT_OFFERED,
    is: ['nothing done', 'not offered', 'of object'],
  },
  407: {
    failure: 'config',
    id: 'proxy-password',
    words: 'The proxy asks for a password; put it into HTTPS_PROXY (http://user:password@host)',
    is: [],
  },
  408: { ...UNEXPECTED_FOR_NOW, is: ['retryable', 'uncertain'] },
  409: {
    failure: 'transient',
    id: 'conflict',
    words: 'The service reports a conflict',
    is: ['conflict', 'expired', 'dead link', 'outdated', 'linked', 'of record'],
  },
  410: {
    failure: 'system',
    id: 'link-expired',
    words: 'The link has expired',
    is: ['expired', 'dead link'],
  },
  412: {
    failure: 'transient',
    id: 'changed-meanwhile',
    words: 'The record was changed in the meantime',
    is: ['outdated', 'of record'],
  },
  413: { ...UNEXPECTED, is: ['of record'] },
  414: {
    failure: 'config',
    id: 'url-too-long',
    words: 'The service says that the URL is too long; request fewer external references',
    wordsOfRecord: 'The service says that the URL is too long; use a shorter name or value',
    is: ['nothing done', 'of record'],
  },
  422: { ...UNEXPECTED, is: ['of record'] },
  425: { ...UNEXPECTED_FOR_NOW, is: ['retryable'] },
  429: {
    failure: 'transient',
    id: 'asked-too-often',
    words: 'The service gets too many requests',
    is: ['retryable', 'nothing done', 'rate limit'],
  },
  500: { ...FAILS, is: ['retryable', 'uncertain'] },
  501: { ...FAILS, failure: 'system', id: 'unexpected-status', is: [] },
  502: { ...FAILS, is: ['retryable', 'uncertain', 'gateway'] },
  503: { ...FAILS, is: ['retryable', 'uncertain', 'rate limit with Retry-After'] },
  504: { ...FAILS, is: ['retryable', 'uncertain', 'gateway'] },
}

/** What a status means; one of the service's failures that has no meaning of its own is like 500. */
export function meaningOf(status: number): StatusMeaning {
  const base = status >= 500 && status < 600 ? MEANINGS[500] : undefined
  return MEANINGS[status] ?? base ?? UNEXPECTED
}

/** Whether a status has this meaning; false where there was no answer. */
export function statusIs(status: number | undefined, kind: StatusKind): boolean {
  return status !== undefined && meaningOf(status).is.includes(kind)
}

/** Whether what was asked for is in the answer: any success. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
