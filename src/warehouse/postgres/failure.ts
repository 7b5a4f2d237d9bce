import { ConnectorError } from '../../ground/errors.ts'
import type { LandingFailure } from '../landing.ts'
import { dependedOn, unwritable } from '../unwritable.ts'

// Errors of the server have a SQLSTATE of five characters; its first two are the class. Those of the network have the
// system's name, such as ECONNRESET.

const SERVER_STATE = /^(?!E)[\dA-Z]{5}$/
const NETWORK = /^(ECONN|EPIPE|ETIMEDOUT|ENET|EHOST)/
/** What `pg` says when it has no connection any more. */
const NO_CONNECTION = /^Connection terminated|not queryable/
/** The server ends or starts, has no connection left, or is no longer the one that may write. */
const PASSING = /^(08|57P0|53300|25006)/
/** What others hold back for a moment: a lock, or rows of another transaction. */
const BUSY = /^(55P03|40)/
/**
 * Classes whose messages name objects and settings only. Those of other classes may quote a value of a row, such as that
 * of a check of somebody else.
 */
const WITHOUT_VALUES = /^(0A|25|28|2B|3D|3F|42|53|54|55|57|58)/

// A server may translate its messages, so what a state does not tell is told by the name of the function that reports it.

/** A setting of a transaction that a server in recovery does not have. */
const IN_RECOVERY = /^call_bool_check_hook$/
/** What others have made of a column whose type is changed; until PostgreSQL 15, and since. */
const USED_BY = /^(ATExecAlterColumnType|RememberAllDependentForRebuilding)$/

function isUnsupported(error: unknown, where: RegExp): boolean {
  const { routine } = Object(error) as { readonly routine?: unknown }
  return stateOf(error) === '0A000' && where.test(String(routine))
}

/** The SQLSTATE of an error of the server; undefined for any other error. */
function stateOf(error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown }
  return typeof code === 'string' && SERVER_STATE.test(code) ? code : undefined
}

/** Whether the connection is lost, so that nobody has said what became of the last statement. */
export function isLost(error: unknown): boolean {
  const state = stateOf(error)
  if (state !== undefined) return /^(08|57P0)/.test(state)
  return NETWORK.test(codeOf(error)) || NO_CONNECTION.test(text(error))
}

/** A server that only follows another one refuses to begin a transaction that writes. */
function isPassing(error: unknown): boolean {
  const state = stateOf(error) ?? ''
  return PASSING.test(state) || isUnsupported(error, IN_RECOVERY)
}

/** Whether the same transaction may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  return BUSY.test(stateOf(error) ?? '')
}

/** A failure of the connection, rather than of what a stream writes: no other stream can be written either. */
export class ConnectionError extends ConnectorError {}

/** What an error of a statement means. */
export function failureOf(error: unknown): LandingFailure {
  if (error instanceof ConnectorError) return { error, isOfAll: error instanceof ConnectionError }
  const state = stateOf(error)
  if (isLost(error) || isPassing(error))
    return { error: notReached('The connection to the server was lost', error), isOfAll: true }
  if (isBusy(error))
    return {
      error: new ConnectorError(
        'transient',
        'in-use',
        `Somebody else's statement holds a lock that the warehouse needs: ${messageOf(error)}. The warehouse has the rows of the last commit, and the next sync continues there.`,
        { cause: error },
      ),
      isOfAll: false,
    }
  if (state === '42501')
    return {
      error: new ConnectorError(
        'config',
        'rights-missing',
        `The role lacks a right on the warehouse: ${messageOf(error)}. Give it the rights in docs/warehouse.md, "PostgreSQL".`,
        { cause: error },
      ),
      isOfAll: false,
    }
  if (state === '2BP01' || isUnsupported(error, USED_BY)) {
    const { detail = '' } = Object(error) as { readonly detail?: string }
    const what = `${text(error)} (${detail.split('\n')[0]})`
    return { error: dependedOn(what, error), isOfAll: false }
  }
  const full = new Error(state === '53100' ? 'No space left' : messageOf(error), { cause: error })
  return { error: unwritable(full), isOfAll: /^(53|58)/.test(state ?? '') }
}

/** The same for a statement that only reads: an error that nobody expects stays as it is. */
export function readingFailureOf(error: unknown): unknown {
  const { error: failure } = failureOf(error)
  return failure.failure === 'system' ? error : failure
}

/** The error for a connection that was not opened. */
export function notOpened(address: string, error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error
  const state = stateOf(error)
  const tls = /SSL|TLS|certificate|CERT/.test(`${codeOf(error)} ${text(error)}`)
  if (state === undefined && !tls)
    return notReached(`The server of ${address} cannot be reached`, error)
  if (isPassing(error))
    return notReached(`The server of ${address} accepts no connection now`, error)
  const advice = tls
    ? 'Without sslmode, the connection is encrypted and the certificate is checked. Name the file of its authority in NODE_EXTRA_CA_CERTS, or add sslmode=require to the address, or sslmode=disable for no encryption.'
    : /^(28|3D)/.test(state ?? '')
      ? 'Check the address given by --warehouse, the role and its password.'
      : 'Nothing was written.'
  return new ConnectionError(
    'config',
    'warehouse-not-opened',
    `The warehouse ${address} cannot be opened: ${text(error) || codeOf(error)}. ${advice}`,
    { cause: error },
  )
}

function notReached(what: string, error: unknown): ConnectionError {
  return new ConnectionError(
    'transient',
    'warehouse-not-reached',
    `${what}: ${text(error) || codeOf(error)}. The warehouse has the rows of the last commit, and the next sync continues there.`,
    { cause: error },
  )
}

function messageOf(error: unknown): string {
  const state = stateOf(error)
  if (state === undefined || WITHOUT_VALUES.test(state)) return text(error)
  const { constraint } = Object(error) as { readonly constraint?: string }
  const what = constraint === undefined ? '' : ` (${constraint})`
  return `PostgreSQL refuses a row with SQLSTATE ${state}${what}, and its message may quote a value`
}

function text(error: unknown): string {
  const { message = '' } = Object(error) as { readonly message?: string }
  return message.split('\n')[0] ?? ''
}

function codeOf(error: unknown): string {
  return String((Object(error) as { readonly code?: unknown }).code ?? 'no reason is given')
}
