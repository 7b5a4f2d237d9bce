import { readFileSync } from 'node:fs'
import { readProjectJson } from '../src/project-files.ts'
import { releasesOf } from './changelog.ts'
import { markdown } from './markdown-table.ts'

/** A setting as the platform's form shows it. */
interface Field {
  readonly title?: string
  readonly description?: string
  readonly airbyte_hidden?: boolean
  readonly const?: unknown
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Field>>
  readonly oneOf?: readonly Field[]
}

const TAGS = 'https://github.com/source-protime/source-protime/releases/tag'

/** What must be at hand before the form is filled in: the required fields, by their titles. */
export function prerequisites(): string {
  const { required = [], properties = {} } = specification()
  return required
    .map(
      (name) => `- **${properties[name]?.title}**: ${plain(properties[name]?.description ?? '')}`,
    )
    .join('\n')
}

/** Every field of the form in its order, by the titles that stand above the boxes. */
export function form(): string {
  const { required = [], properties = {} } = specification()
  const rows = Object.entries(properties)
    .filter(([, field]) => field.airbyte_hidden !== true)
    .flatMap(([name, field]) => rowsOf(field, required.includes(name)))
  return markdown(['Field', 'Required', 'Default', 'What to enter'], rows)
}

/** The table of messages in the user's guide. */
export function troubleshooting(): string {
  const guide = readFileSync('docs/user-guide.md', 'utf8')
  const [, section = ''] = guide.split('\n## When something fails\n')
  const [table] = /^\| Message \|.*\n(?:\|.*\n)+/m.exec(section) ?? []
  if (table === undefined) throw new Error('the guide has lost its table of messages')
  return plain(table.trim())
}

/** CHANGELOG.md as the table that ends a page of Airbyte. */
export function changelog(): string {
  const rows = releasesOf(readFileSync('CHANGELOG.md', 'utf8')).map(
    ({ version, date, subject }) => [version, date, `[v${version}](${TAGS}/v${version})`, subject],
  )
  const table = markdown(['Version', 'Date', 'Release', 'Subject'], rows)
  // Airbyte's check wants the details at once below the heading.
  return `## Changelog\n\n<details>\n  <summary>Expand to review</summary>\n\n${table}\n\n</details>`
}

function specification(): Field {
  return (readProjectJson('#spec') as { connectionSpecification: Field }).connectionSpecification
}

function rowsOf(field: Field, isRequired: boolean, above = ''): string[][] {
  const title = `${above}${field.title}`
  const row = [title, isRequired ? 'yes' : '', defaultOf(field), plain(field.description ?? '')]
  const below = (field.oneOf ?? []).flatMap(({ title: option, properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, member]) =>
      // The choice itself is the dropdown.
      member.const === undefined
        ? rowsOf(member, required.includes(name), `${title}: ${option}, `)
        : [[`${title}: ${option}`, '', '', plain(member.description ?? '')]],
    ),
  )
  return [row, ...below]
}

function defaultOf({ default: fallback }: Field): string {
  return fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``
}

/** Text that is no code in the dialect of Airbyte's site, which takes braces and angles for it. */
function plain(text: string): string {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part.replace(/[{}<]/g, '\\$&') : part))
    .join('`')
}
