import { ConnectorError, type FailureType } from '../ground/errors.ts'
import { isJsonObject, textOfBody, tryParseJson } from '../ground/json.ts'
import { type Mask, withoutValues } from '../ground/mask.ts'
import { clean } from '../ground/text.ts'
import { LINK_TOKENS, withoutQuery } from './endpoints.ts'
import { meaningOf, type StatusKind, statusIs } from './status.ts'
import type { Reply } from './transport.ts'

/** More facts about a rejected request: see the fields of `HttpError`. */
export interface HttpErrorFacts {
  readonly reason?: string
  readonly isRepeat?: boolean
  readonly code?: string | undefined
  readonly reasons?: readonly string[]
  readonly oauthError?: string | undefined
  readonly isPage?: boolean
  readonly retryAfterMs?: number | undefined
}

/** The service rejected a request, and repeating it would not help. The status says why, the message what to do. */
export class HttpError extends ConnectorError {
  override name = 'HttpError'
  readonly status: number
  /** The message without the address, so that it is the same for all links with the same error. */
  readonly reason: string
  /** Whether an earlier attempt may have reached the service although its answer was lost. */
  readonly isRepeat: boolean
  /** The service's own code, for example `NotFound`. */
  readonly code: string | undefined
  /** The service's own texts, one sentence each. */
  readonly reasons: readonly string[]
  /** The OAuth code in these texts, for example `invalid_scope`. */
  readonly oauthError: string | undefined
  /** Whether the body is a page: then it may be that not the service has responded, but a proxy without a way to it. */
  readonly isPage: boolean

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
      isPage = false,
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
    this.isPage = isPage
  }

  /** Whether the status has this meaning. */
  is(kind: StatusKind): boolean {
    return statusIs(this.status, kind)
  }
}

/** The most characters of an error body that are shown, and the most bytes that are read. */
const MAX_TEXT = 200
const MAX_BODY = 64 * 1024
/** How long to wait for the body of an error, in milliseconds. */
const MAX_TEXT_MS = 2000
const MAX_REASONS = 10

/** What the message of an error contains, and what it must not contain. */
export interface ErrorTextOptions {
  /** See `HttpError`. */
  readonly isRepeat?: boolean
  /** Replaces the URL. */
  readonly loggedUrl?: string | undefined
  /** Leaves out the service's texts except for its code, because they may name people. */
  readonly hidesWords?: boolean | undefined
  /** Personal data in the request, which the service may repeat in its texts. */
  readonly redactedValues?: readonly string[] | undefined
  /** See `HttpError`. */
  readonly retryAfterMs?: number | undefined
}

/** The parts of an answer that an error is made from. */
export type ErrorReply = Pick<Reply, 'status' | 'body' | 'discard' | 'isPrivate'>

/**
 * Turns an error answer into an error. Its message contains the service's own texts in the documented members of its
 * body, unless they are hidden. They are masked before they are cut, because a cut secret would not be recognized.
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
  }: ErrorTextOptions = {},
): Promise<HttpError> {
  const { status } = reply
  for (const token of tokensOf(url)) mask.add(token)
  const shown = (words: string) => tidy(mask.text(withoutValues(words, redactedValues)))
  const body = await textOf(reply)
  const said = readWords(withoutRecords(status, body))
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
    isPage: isPage(body),
    retryAfterMs,
  })
}

/** Whether a text is a page and not JSON. */
export function isPage(text: string): boolean {
  return /^\s*</.test(text)
}

/** The codes of the token endpoint that the connector handles. */
const OAUTH_ERROR = /invalid_scope|invalid_client|unauthorized_client/i

/**
 * Used for hosts of a private network: what they answer must not be shown to everybody who can configure the
 * connector.
 */
const NO_WORDS: Words = { words: [], code: undefined }

/** The tokens in a link, which the service may repeat in its texts. */
function tokensOf(url: string): string[] {
  const { searchParams } = new URL(url)
  const tokens = LINK_TOKENS.flatMap((name) => searchParams.getAll(name))
  // Page numbers are no secrets, and masking them would hide other numbers.
  return tokens.filter(({ length }) => length >= 8)
}

/**
 * The text of an error body; empty if it is too large, incomplete or too slow. The status is more important, and a
 * secret that is cut off could not be masked.
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

/** Matches the text of pages and records, also if it is cut off. */
const RECORDS = /"value"\s*:\s*\[|"changeVersion"/i

/**
 * Leaves out texts with records, because personal data in them has not been treated. Successful answers have records.
 */
function withoutRecords(status: number, text: string): string {
  return status < 400 || RECORDS.test(text) ? '' : text
}

/** The texts of an error body, and the service's code among them. */
interface Words {
  readonly words: readonly string[]
  readonly code: string | undefined
}

/**
 * Reads the documented members of an error body: `code`, `message` and `reasons`, `validationErrors`, and the code of
 * OAuth in `error`. Everything else may be a record: other members, and bodies that are no JSON.
 */
function readWords(text: string): Words {
  const body = tryParseJson(text)
  if (!isJsonObject(body)) return NO_WORDS
  const { error, validationErrors } = body
  const { code = error, message, reasons } = isJsonObject(error) ? error : body
  const items = [...itemsOf(reasons), ...itemsOf(validationErrors)].flatMap(textsOf)
  const words = [code, message, ...items].filter((word) => typeof word === 'string')
  return {
    words: words.map((word) => word.replace(/\{.*$/s, '…')),
    code: typeof code === 'string' ? code : undefined,
  }
}

function itemsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list.slice(0, MAX_REASONS) : []
}

/** Members of a validation error that say where and what it is. Its members are not documented; some are values. */
const SAYS_WHAT =
  /^(error|validation)?(field|property|path|member|message|problem|reason|code)(name)?$/i

function textsOf(item: unknown): unknown[] {
  if (!isJsonObject(item)) return [item]
  return Object.entries(item).flatMap(([name, value]) => (SAYS_WHAT.test(name) ? [value] : []))
}

/** Only the code, if it is an identifier such as `NotFound` or `invalid_client`; other texts may name people. */
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
