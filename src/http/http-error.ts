import { ConnectorError, type FailureType } from '../ground/errors.ts'
import { isJsonObject, textOfBody, tryParseJson } from '../ground/json.ts'
import { type Mask, withoutValues } from '../ground/mask.ts'
import { clean } from '../ground/text.ts'
import { LINK_TOKENS, withoutQuery } from './links.ts'
import { meaningOf, type StatusKind, statusIs } from './status.ts'
import type { Reply } from './transport.ts'

/** What else is known of a refusal; see the fields of `HttpError`. */
export interface HttpErrorFacts {
  readonly reason?: string
  readonly isRepeat?: boolean
  readonly code?: string | undefined
  readonly reasons?: readonly string[]
  readonly oauthError?: string | undefined
  readonly retryAfterMs?: number | undefined
}

/** The service refused a request, and a repetition would not help: the status says how, the message what to do. */
export class HttpError extends ConnectorError {
  override name = 'HttpError'
  readonly status: number
  /** The message without the address: the same for all links that are refused alike. */
  readonly reason: string
  /** True when an earlier attempt may have reached the service although its answer was lost. */
  readonly isRepeat: boolean
  /** The service's own code, such as `NotFound`. */
  readonly code: string | undefined
  /** The service's own words, one sentence each. */
  readonly reasons: readonly string[]
  /** The code of OAuth that stands in the words, such as `invalid_scope`. */
  readonly oauthError: string | undefined

  constructor(
    failure: FailureType,
    status: number,
    message: string,
    {
      reason = message,
      isRepeat = false,
      code,
      reasons = [],
      oauthError,
      retryAfterMs,
    }: HttpErrorFacts = {},
  ) {
    super(failure, meaningOf(status).id, message, { retryAfterMs })
    this.status = status
    this.reason = reason
    this.isRepeat = isRepeat
    this.code = code
    this.reasons = reasons
    this.oauthError = oauthError
  }

  /** Whether its status has this meaning. */
  is(kind: StatusKind): boolean {
    return statusIs(this.status, kind)
  }
}

/** Longest part of an error body that is shown, and that is read. */
const MAX_TEXT = 200
const MAX_BODY = 64 * 1024
/** Nobody waits longer for the words of an error, in milliseconds. */
const MAX_TEXT_MS = 2000
/** The documented forms have three levels. */
const MAX_LEVELS = 6
const MAX_REASONS = 10

/** What a message says of a request, and what it must not say. */
export interface Telling {
  /** See HttpError. */
  readonly isRepeat?: boolean
  /** In place of the address. */
  readonly loggedUrl?: string | undefined
  /** Leaves out the words of the service but for its code, because they may name people. */
  readonly hidesWords?: boolean | undefined
  /** Personal data of the request, which the service may repeat in its words. */
  readonly redactedValues?: readonly string[] | undefined
  /** See HttpError. */
  readonly retryAfterMs?: number | undefined
}

/** What is looked at of an answer. */
export type ErrorReply = Pick<Reply, 'status' | 'body' | 'discard' | 'isPrivate'>

/**
 * Reads an error answer into a sentence: the service's own words are added, whatever their form, unless they are hidden.
 * They are masked here, because a secret that is cut off cannot be found any more.
 */
export async function toHttpError(
  url: string,
  reply: ErrorReply,
  mask: Mask,
  {
    isRepeat = false,
    loggedUrl = withoutQuery(url),
    redactedValues = [],
    hidesWords = false,
    retryAfterMs,
  }: Telling = {},
): Promise<HttpError> {
  const { status } = reply
  for (const token of tokensOf(url)) mask.add(token)
  const shown = (words: string) => tidy(mask.text(withoutValues(words, redactedValues)))
  const said = readWords(withoutRecords(status, await textOf(reply)))
  const oauthError = OAUTH_ERROR.exec(said.words.join(' '))?.[0].toLowerCase()
  const { words, code } = reply.isPrivate() ? NO_WORDS : hidesWords ? codeAlone(said) : said
  const text = shown(words.join('; '))
  const { failure, words: meaning, advice = '' } = meaningOf(status)
  const detail = text === '' ? '' : `: ${text}`
  const message = `${meaning} (${status} for ${loggedUrl})${detail}.${advice}`
  return new HttpError(failure, status, message, {
    reason: `${meaning}${detail}`,
    isRepeat,
    code: code === undefined ? undefined : shown(code),
    reasons: words
      .filter((word) => word !== code)
      .map(shown)
      .filter((word) => word !== ''),
    oauthError,
    retryAfterMs,
  })
}

/** Refusals of the token endpoint that mean something to us. */
const OAUTH_ERROR = /invalid_scope|invalid_client|unauthorized_client/i

/** A host of a private network may be any, and what it says is for nobody who can only configure us. */
const NO_WORDS: Words = { words: [], code: undefined }

/** The tokens in a link; the service may repeat them in its words. */
function tokensOf(url: string): string[] {
  const { searchParams } = new URL(url)
  const tokens = LINK_TOKENS.flatMap((name) => searchParams.getAll(name))
  // A page number is no secret, and masking it would hide innocent numbers.
  return tokens.filter(({ length }) => length >= 8)
}

/**
 * The text of an error body; none when it is too large for a message, or does not come whole and soon: the
 * status says what matters, and a secret at a broken end could not be masked.
 */
async function textOf(reply: Pick<ErrorReply, 'body' | 'discard'>): Promise<string> {
  const parts: Buffer[] = []
  const until = performance.now() + MAX_TEXT_MS
  let size = 0
  try {
    for await (const part of reply.body) {
      parts.push(part)
      size += part.length
      if (size > MAX_BODY) return ''
      if (performance.now() > until) return ''
    }
  } catch {
    return ''
  } finally {
    reply.discard()
  }
  return textOfBody(parts)
}

/** What a page or a record has, also one that is cut off. */
const RECORDS = /"value"\s*:\s*\[|"changeVersion"/i

/** Nothing in place of records, whose fields nobody has treated yet: a success has them, whatever its status. */
function withoutRecords(status: number, text: string): string {
  return status < 400 || RECORDS.test(text) ? '' : text
}

/** What an error body says, in one list, and the part of it that is the service's code. */
interface Words {
  readonly words: readonly string[]
  readonly code: string | undefined
}

/** `code`, `message` and `reasons` of the documented forms, else the plain text. */
function readWords(text: string): Words {
  const body = tryParseJson(text)
  const words: string[] = []
  collect(body, words)
  if (words.length === 0 && !text.trimStart().startsWith('<')) words.push(text)
  const inner = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : body
  // OAuth has its code in `error`.
  const code = isJsonObject(inner) ? (inner['code'] ?? inner['error']) : undefined
  return { words, code: typeof code === 'string' ? code : undefined }
}

/** A code is an identifier such as `NotFound` or `invalid_client`; other words may be of a person. */
function codeAlone({ code }: Words): Words {
  return code !== undefined && /^[A-Za-z][\w.-]{0,63}$/.test(code)
    ? { words: [code], code }
    : { words: [], code: undefined }
}

function tidy(words: string): string {
  const line = clean(words, MAX_BODY).replace(/\s+/g, ' ').trim()
  return [...line]
    .slice(0, MAX_TEXT)
    .join('')
    .replace(/[.\s]+$/, '')
}

function collect(value: unknown, found: string[], level = 0): void {
  if (level > MAX_LEVELS) return
  if (typeof value === 'string') found.push(value)
  else if (Array.isArray(value))
    for (const item of value.slice(0, 10)) collect(item, found, level + 1)
  else if (isJsonObject(value)) {
    const { error, error_description, code, message, reasons, validationErrors, detail } = value
    const nested = isJsonObject(error) ? error : undefined
    const known = [error, code, message ?? error_description ?? detail, reasons]
    collect(nested ?? known, found, level + 1)
    collectAll(validationErrors, found, level + 1)
  }
}

/** The texts of a validation error, whose members are not documented. */
function collectAll(value: unknown, found: string[], level: number): void {
  if (level > MAX_LEVELS || found.length > MAX_REASONS) return
  if (typeof value === 'string') found.push(value)
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collectAll(item, found, level + 1)
}
