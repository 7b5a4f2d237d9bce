import { documentUrl, RUNBOOK_SECTIONS, runbookRows, runbookUrl } from '../ground/runbook.ts'
import { byLikeness } from '../ground/text.ts'
import { type BareTools, EXIT, type ExitCode, UsageError } from './command.ts'

/** How many ids are offered instead of an unknown one. */
const MOST_OFFERED = 3

/**
 * Prints the runbook's row for an id: what the message means, and what to do. The id may have its brackets. Without an id,
 * lists all ids.
 */
export async function explain(
  { print }: Pick<BareTools, 'print'>,
  asked: string | undefined,
): Promise<ExitCode> {
  const id = asked?.replaceAll(/[[\]]/g, '')
  if (id === undefined) {
    const lists = RUNBOOK_SECTIONS.map(([heading, ids]) => [heading, ...ids].join('\n  '))
    await print(lists.join('\n\n'))
    return EXIT.done
  }
  const rows = runbookRows()
  const row = rows.get(id)
  const section = RUNBOOK_SECTIONS.find(([, ids]) => ids.includes(id))
  if (row === undefined || section === undefined) {
    const offered = byLikeness(id, rows.keys()).slice(0, MOST_OFFERED)
    const names = offered.map(({ name }) => name).join(', ')
    throw new UsageError(`no message has the id ${id}; the nearest are ${names}`)
  }
  await print(`${id}\n${section[0]}\n\n${row.says}\n\n${asText(row.do)}\n\n${runbookUrl(id)}`)
  return EXIT.done
}

/** Markdown without its marks, and with the whole address of each link. */
function asText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_, text, link) => `${text} (${documentUrl(link)})`)
    .replaceAll('`', '')
}
