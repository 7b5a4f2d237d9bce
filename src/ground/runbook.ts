import { ALERTS, FAILURES, WARNINGS } from './message-ids.ts'
import { readProjectJson } from './project-files.ts'

/** An entry of the runbook. */
interface RunbookRow {
  /** The message, with `…` for what varies. */
  readonly says: string
  /** What to do, as Markdown of a page in `docs`. */
  readonly do: string
}

/** The sections of the runbook: who has to act on which messages. */
export const RUNBOOK_SECTIONS: readonly (readonly [heading: string, ids: readonly string[]])[] = [
  ['Alerts', ALERTS],
  ['Configuration errors: correct the cause, then run again', FAILURES.config],
  ['Transient failures: the next run tries again', FAILURES.transient],
  ['Faults of the service, of the machine or of the connector', FAILURES.system],
  ['Warnings: the program continues', WARNINGS],
]

/** The entry of each id, in `runbook.json`. The runbook of docs/runbook.md is made from it. */
export function runbookRows(): ReadonlyMap<string, RunbookRow> {
  return new Map(Object.entries(readProjectJson('#runbook') as Record<string, RunbookRow>))
}

/** The address of a link that stands in an entry. */
export function documentUrl(link: string): string {
  const { documentationUrl } = readProjectJson('#spec') as { readonly documentationUrl: string }
  return new URL(link, documentationUrl).href
}

/** The address of the entry of an id: anchors of headings are in small letters. */
export function runbookUrl(id: string): string {
  return documentUrl(`runbook.md#${id.toLowerCase()}`)
}
