import type { Mask } from './mask.ts'
import { clean, LONGEST_ANSWER, logLines } from './text.ts'

/**
 * The ids of messages, which stay the same when the wording changes. These are the ids of failures, by who has to act.
 * `runbook.json` has a row for each.
 */
export const FAILURES = {
  config: [
    'configuration-not-valid',
    'start-date-too-late',
    'command-line-not-valid',
    'config-missing',
    'file-not-readable',
    'file-not-json',
    'metrics-not-writable',
    'not-metrics',
    'configured-catalog-not-valid',
    'no-stream-selected',
    'inventory-alone',
    'deletes-withheld',
    'catalog-not-valid',
    'state-of-another-program',
    'state-damaged',
    'unknown-stream',
    'misspelled-stream',
    'streams-not-a-list',
    'warehouse-not-a-text',
    'unknown-sync-mode',
    'client-not-accepted',
    'no-token-service',
    'not-entitled',
    'permission-missing',
    'token-not-accepted',
    'no-access',
    'request-not-accepted',
    'not-offered',
    'record-not-found',
    'api-not-found',
    'stream-not-offered',
    'external-reference-refused',
    'request-too-long',
    'url-too-long',
    'certificate-not-trusted',
    'no-secure-connection',
    'proxy-not-an-address',
    'host-not-public',
    'proxy-password',
    'proxy-refuses',
    'duckdb-missing',
    'postgres-missing',
    'address-not-valid',
    'password-in-address',
    'password-file-open',
    'password-missing',
    'no-webassembly',
    'warehouse-of-another-tenant',
    'redacted-otherwise',
    'refresh-begun-otherwise',
    'made-by-another-version',
    'not-duckdb',
    'damaged-index',
    'objects-depend',
    'made-by-a-newer-duckdb',
    'published-onto-itself',
    'copy-not-written',
    'publish-not-supported',
    'not-a-copy',
    'no-stream-named',
    'warehouse-not-opened',
    'name-taken',
    'history-would-end',
    'streams-left-out',
    'not-locked',
    'lock-not-written',
    'rights-missing',
    'file-not-own',
    'path-not-reached',
    'made-by-others',
    'person-still-listed',
    'input-ended',
    'cannot-listen',
    'config-not-written',
    'key-file-not-made',
    'key-not-written',
    'journal-not-usable',
    'mirror-refused',
    'name-not-valid',
    'no-airbyte-token',
    'no-history',
    'no-list',
    'no-list-to-preview',
    'not-a-warehouse',
    'nothing-compared',
    'period-not-over',
    'period-not-read',
    'query-not-valid',
    'records-failed',
    'rejected-records-not-written',
    'rows-not-valid',
    'scope-missing',
    'store-not-usable',
    'store-of-another-tenant',
    'stream-not-writable',
    'unknown-object',
    'value-taken-for-id',
    'webhook-id-empty',
  ],
  transient: [
    'retry-after-too-long',
    'too-many-requests',
    'service-fails',
    'response-too-slow',
    'conflict',
    'conflict-on-list',
    'changed-meanwhile',
    'another-consumer',
    'delta-refused',
    'refresh-not-repeated',
    'links-die',
    'host-not-reached',
    'unknown-host',
    'connection-broke',
    'proxy-failed',
    'token-not-json',
    'no-final-response',
    'outcome-unknown',
    'in-use',
    'locked',
    'no-response-from-scheduler',
    'warehouse-not-reached',
  ],
  system: [
    'page-damaged',
    'page-without-end',
    'record-too-large',
    'page-too-large',
    'links-in-a-circle',
    'pages-without-end',
    'no-delta-link',
    'link-not-followed',
    'link-expired',
    'no-access-token',
    'no-bearer-token',
    'token-response-too-large',
    'unexpected-status',
    'unknown-encoding',
    'response-too-large',
    'warehouse-not-written',
    'too-many-members',
    'library-misused',
    'state-not-valid',
    'stream-not-ended',
    'unexpected',
    'response-not-understood',
    'input-not-valid',
    'links-not-restored',
    'outcomes-not-known',
    'scheduler-response-too-large',
    'webhook-incomplete',
  ],
} as const

/** The ids of warnings, after which the program goes on. `runbook.json` has a row for each of these, too. */
export const WARNINGS = [
  'starts-over',
  'deltas-ended-early',
  'state-not-usable',
  'sync-mode-changed',
  'state-of-another-tenant',
  'days-not-listed',
  'ids-too-many',
  'still-waiting',
  'references-not-listed',
  'list-not-complete',
  'changes-not-reported',
  'rows-not-confirmed',
  'many-rows-missing',
  'many-deletes',
  'column-emptied',
  'list-lags-behind',
  'lists-failed',
  'history-not-listed',
  'no-delta-offered',
  'delta-for-full-refresh',
  'nothing-selected',
  'unknown-setting',
  'setting-of-another-environment',
  'unknown-fields',
  'value-of-another-type',
  'table-changed',
  'view-not-made',
  'output-not-written',
  'readable-by-others',
  'sync-not-complete',
  'rewrite-not-complete',
  'reference-not-embedded',
  'reference-left-out',
  'log-level-unknown',
  'record-rejected',
  'member-ignored',
  'values-taken',
  'records-replaced',
  'mirror-setting-ignored',
  'webhook-may-exist',
  'not-found',
  'person-not-found',
  'rows-to-judge',
  'stream-not-verified',
  'rows-withheld',
  'environment-not-known',
  'check-failed',
  'request-repeated',
  'webhook-not-initialized',
  'webhook-paused',
  'webhook-without-key',
  'webhook-not-created',
  'webhooks-not-checked',
  'sync-not-triggered',
  'store-rewritten',
  'delivery-refused',
  'delivery-not-json',
  'delivery-unknown',
  'connections-closed',
  'request-not-served',
] as const

/** The alerts on the metrics of a sync, in docs/monitoring.md. `runbook.json` has a row for each of these, too. */
export const ALERTS = [
  'ProtimeSyncMissing',
  'ProtimeStreamOld',
  'ProtimeStreamNever',
  'ProtimeNeedsSomebody',
  'ProtimeDeletesWithheld',
  'ProtimeRefused',
] as const

/** The id of a failure; the ids of other connectors begin with `x-`. */
export type FailureId = (typeof FAILURES)[keyof typeof FAILURES][number] | `x-${string}`

/** The id of a warning. */
export type WarningId = (typeof WARNINGS)[number]

/** A warning or a failure, as logs take it: without an id it cannot be logged. A `ConnectorError` is one. */
export interface IdentifiedMessage {
  readonly id: FailureId | WarningId
  readonly message: string
}

/** A warning with its id. */
export function warningOf(id: WarningId, message: string): IdentifiedMessage {
  return { id, message }
}

/** The same message about a subject, such as a stream; without a subject, the message itself. */
export function about(
  subject: string | undefined,
  { id, message }: IdentifiedMessage,
): IdentifiedMessage {
  return { id, message: subject === undefined ? message : `${subject}: ${message}` }
}

/** The text of a message with its id, as it is printed. */
export function withId({ id, message }: IdentifiedMessage): string {
  return `${message} [${id}]`
}

/** How a program does what messages suggest: what ends the sentence of `PURPOSES`. */
export interface Remedies {
  readonly readAnew: string
  readonly leaveOut: string
  readonly listStreams: string
  readonly approve: string
}

const PURPOSES: Readonly<Record<keyof Remedies, string>> = {
  readAnew: 'To read the stream again, without its earlier rows',
  leaveOut: 'To sync without the stream',
  listStreams: 'To see which streams there are',
  approve: 'If these rows are really gone',
}

/** What a message suggests that each program does in its own way. */
const SUGGESTED: Partial<Record<IdentifiedMessage['id'], keyof Remedies>> = {
  'state-not-usable': 'readAnew',
  'sync-mode-changed': 'readAnew',
  'state-of-another-tenant': 'readAnew',
  'delta-refused': 'readAnew',
  'not-entitled': 'leaveOut',
  'permission-missing': 'leaveOut',
  'stream-not-offered': 'leaveOut',
  'unknown-stream': 'listStreams',
  'deletes-withheld': 'approve',
}

/**
 * The lines of a log for a message of any length, without secrets; each of them ends with the id. The remedies are
 * those of the program that prints it.
 */
export function messageLines(message: IdentifiedMessage, mask: Mask, remedies: Remedies): string[] {
  return logLines(mask.text(advised(message, remedies))).map((line) =>
    withId({ id: message.id, message: line }),
  )
}

/** How `failureLine` writes a failure. */
interface FailureLineOptions {
  /** The type of the failure, if it is shown. */
  readonly type?: string | undefined
  /** The longest line; what is longer is cut before the id. */
  readonly most?: number
}

/** One line for a failure, without secrets; see `messageLines`. */
export function failureLine(
  message: IdentifiedMessage,
  mask: Mask,
  remedies: Remedies,
  { type, most = LONGEST_ANSWER }: FailureLineOptions = {},
): string {
  const end = withId({ id: message.id, message: type === undefined ? '' : ` (${type})` })
  return `${clean(mask.text(advised(message, remedies)).slice(0, most - end.length), most)}${end}`
}

/** The text of a message, with how a program does what it suggests. */
export function advised({ id, message }: IdentifiedMessage, remedies: Remedies): string {
  const remedy = SUGGESTED[id]
  return remedy === undefined ? message : `${message} ${PURPOSES[remedy]}, ${remedies[remedy]}.`
}
