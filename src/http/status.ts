import type { FailureType } from '../ground/errors.ts'
import type { FailureId } from '../ground/message-ids.ts'

/** What a status can mean for the sender of the request. */
export type StatusKind =
  /** Repeating the request may help. */
  | 'retryable'
  /** The service may have carried out the request. */
  | 'uncertain'
  /** By its documentation, the service has done nothing. After any other answer to a POST that is unknown. */
  | 'nothing done'
  /** The answer of a gateway: the service may have answered, and its answer was lost. */
  | 'gateway'
  /** The service asks for fewer requests; some statuses mean this only with a Retry-After. */
  | 'rate limit'
  | 'rate limit with Retry-After'
  /** The Location header has the new address, for a GET or for any method. */
  | 'redirect of GET'
  | 'redirect'
  /** A new token may be accepted. */
  | 'expired token'
  /** The client lacks a scope or a permission. */
  | 'permission'
  /** The token is valid but gives no access to the resource. */
  | 'no access'
  /** The request is wrong in itself, whatever its target. */
  | 'bad request'
  /** The record does not exist. */
  | 'missing'
  /** The tenant or the API does not have the collection or the operation. */
  | 'not offered'
  /** The service does not know a name in the request, such as a collection of references. */
  | 'unknown'
  /** Two requests contradict each other. */
  | 'conflict'
  /** The service no longer has the data behind one of its own links. */
  | 'expired'
  /** A link of the service cannot be used, now or for good. */
  | 'dead link'
  /** Another client has written the record since it was read. */
  | 'outdated'
  /** The value of a reference may be linked to another record, or the record to another value. */
  | 'linked'
  /** It concerns only the record that was sent. */
  | 'of record'
  /** It would concern every record of the same kind. */
  | 'of object'

/** What a status means, and who has to act. */
export interface StatusMeaning {
  readonly failure: FailureType
  readonly id: FailureId
  /** A sentence without its full stop. */
  readonly words: string
  /** The sentence for a request for one record. */
  readonly wordsOfRecord?: string
  /** The id of that sentence, if it means something else. */
  readonly idOfRecord?: FailureId
  /** A second sentence, with a space before it. */
  readonly advice?: string
  readonly is: readonly StatusKind[]
}

const NOT_OFFERED = 'The service does not offer this to your tenant or API'
const UNEXPECTED: StatusMeaning = {
  failure: 'system',
  id: 'unexpected-status',
  words: 'The service responded with an unexpected status',
  advice:
    ' Check the address and any proxies; if they are right, tell the operator of the service.',
  is: [],
}
const UNEXPECTED_FOR_NOW = {
  failure: 'transient',
  id: 'service-fails',
  words: 'The service responded with an unexpected status',
} as const
const FAILS = { failure: 'transient', id: 'service-fails', words: 'The service failed' } as const

/** The only place that knows statuses; docs/service.md lists those that the service documents. */
const MEANINGS: Readonly<Record<number, StatusMeaning>> = {
  202: { ...UNEXPECTED, is: ['uncertain'] },
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
    idOfRecord: 'record-not-found',
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
    words: 'The proxy requires a password; put it into HTTPS_PROXY (http://user:password@host)',
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
    id: 'too-many-requests',
    words: 'Too many requests',
    is: ['retryable', 'nothing done', 'rate limit'],
  },
  500: { ...FAILS, is: ['retryable', 'uncertain'] },
  501: { ...FAILS, failure: 'system', id: 'unexpected-status', is: [] },
  502: { ...FAILS, is: ['retryable', 'uncertain', 'gateway'] },
  503: { ...FAILS, is: ['retryable', 'uncertain', 'rate limit with Retry-After'] },
  504: { ...FAILS, is: ['retryable', 'uncertain', 'gateway'] },
}

/** The meaning of a status; a 5xx without a meaning of its own is treated like 500. */
export function meaningOf(status: number): StatusMeaning {
  const base = status >= 500 && status < 600 ? MEANINGS[500] : undefined
  return MEANINGS[status] ?? base ?? UNEXPECTED
}

/** Whether a status has a meaning; false if there was no answer. */
export function statusIs(status: number | undefined, kind: StatusKind): boolean {
  return status !== undefined && meaningOf(status).is.includes(kind)
}

/** Whether a status is a success. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
