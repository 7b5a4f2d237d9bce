import { ConnectorError, type FailureType } from '../protocol/errors.ts'
import type { Mask } from '../protocol/mask.ts'
import { LINK_TOKENS, shown } from './links.ts'
import { isRetryable } from './retry-policy.ts'
import type { Reply } from './transport.ts'

/** What else is known of a refusal; see the fields of `HttpError`. */
export interface HttpErrorFacts {
  readonly reason?: string
  readonly isRepeat?: boolean
}

/** The service refused a request for good: the status says how, the message what to do. */
export class HttpError extends ConnectorError {
  override name = 'HttpError'
  readonly status: number
  /** The message without the address: the same for all links that are refused alike. */
  readonly reason: string
  /** True when an earlier attempt may have reached the service although its answer was lost. */
  readonly isRepeat: boolean

  constructor(
    failure: FailureType,
    status: number,
    message: string,
    { reason = message, isRepeat = false }: HttpErrorFacts = {},
  ) {
    super(failure, message)
    this.status = status
    this.reason = reason
    this.isRepeat = isRepeat
  }
}

/** Longest part of an error body that is read and shown. */
const MAX_TEXT = 500
const MAX_BODY = 64 * 1024
/** Nobody waits longer for the words of an error, in milliseconds. */
const MAX_TEXT_MS = 2000
/** The documented forms have three levels. */
const MAX_LEVELS = 6

/** What a status means for the reader of the message, and who has to act. */
const MEANING: Readonly<Record<number, readonly [FailureType, string]>> = {
  400: ['config', 'The service does not accept the request'],
  401: [
    'config',
    'The service does not accept the access token, also a new one; the client lacks a permission',
  ],
  403: ['config', 'The client has no access'],
  404: ['config', 'The service does not offer this to your tenant or API'],
  405: ['config', 'The service does not offer this to your tenant or API'],
  409: ['transient', 'The service reports a conflict'],
  410: ['system', 'The link has expired'],
  414: ['config', 'The service says that the URL is too long; ask for fewer external references'],
  407: [
    'config',
    'The proxy asks for a password; put it into HTTPS_PROXY (http://user:password@host)',
  ],
  429: ['transient', 'The service is asked too often'],
}

/**
 * Reads an error answer into a sentence: the service's own words are added, whatever their form.
 * They are masked here, because a secret that is cut off cannot be found any more. For `isRepeat`
 * see HttpError.
 */
export async function toHttpError(
  url: string,
  reply: Reply,
  mask: Mask,
  isRepeat = false,
): Promise<HttpError> {
  const { status } = reply
  for (const token of tokensOf(url)) mask.add(token)
  const words = wordsOf(await textOf(reply), mask)
  const [failure, meaning] = MEANING[status] ?? [
    isRetryable(status) ? ('transient' as const) : ('system' as const),
    status >= 500 && status < 600
      ? 'The service fails'
      : 'The service answered with an unexpected status',
  ]
  const detail = words === '' ? '' : `: ${words}`
  const message = `${meaning} (${status} for ${shown(url)})${detail}.`
  return new HttpError(failure, status, message, { reason: `${meaning}${detail}`, isRepeat })
}

/** The tokens in a link; the service may repeat them in its words. */
function tokensOf(url: string): string[] {
  const { searchParams } = new URL(url)
  const tokens = LINK_TOKENS.flatMap((name) => searchParams.getAll(name))
  // A page number is no secret, and masking it would hide innocent numbers.
  return tokens.filter(({ length }) => length >= 8)
}

/** The text of an error body, as far as it came; none when it is too large for a message. */
async function textOf(reply: Reply): Promise<string> {
  const parts: Buffer[] = []
  const until = performance.now() + MAX_TEXT_MS
  let size = 0
  try {
    for await (const part of reply.body) {
      parts.push(part)
      size += part.length
      if (size > MAX_BODY) return ''
      if (performance.now() > until) break
    }
  } catch {
    // The status has already said what matters.
  } finally {
    reply.discard()
  }
  return Buffer.concat(parts).toString('utf8')
}

/** `message` and `reasons` of the documented forms, else the plain text. */
function wordsOf(text: string, mask: Mask): string {
  const found: string[] = []
  collect(parsed(text), found)
  const isMarkup = text.trimStart().startsWith('<')
  const words = found.length > 0 ? found.join('; ') : isMarkup ? '' : text
  return mask
    .text(words)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT)
    .replace(/[.\s]+$/, '')
}

function collect(value: unknown, found: string[], level = 0): void {
  if (level > MAX_LEVELS) return
  if (typeof value === 'string') found.push(value)
  else if (Array.isArray(value))
    for (const item of value.slice(0, 10)) collect(item, found, level + 1)
  else if (typeof value === 'object' && value !== null) {
    const { error, error_description, code, message, reasons, validationErrors, detail } =
      value as Record<string, unknown>
    const nested = typeof error === 'object' ? error : undefined
    collect(
      nested ?? [error, code, message ?? error_description ?? detail, reasons, validationErrors],
      found,
      level + 1,
    )
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
