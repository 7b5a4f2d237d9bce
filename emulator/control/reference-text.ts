import { resolveOptions } from '../options.ts'
import { type Argument, commands, views } from './commands.ts'
import { flagOf, optionFacts, wordsFor } from './option-facts.ts'

/** The default address of the control endpoint. */
export const defaultControl = 'http://127.0.0.1:4011'

/**
 * The options and the control endpoint in Markdown, with examples for a control endpoint at this
 * origin. It is part of `docs/emulator.md`, and `GET /` of the endpoint returns it.
 */
export function referenceText(control: string): string {
  const optionRows = Object.entries(optionFacts).map(([name, facts]) => [
    `\`${name}\``,
    facts.hasNoFlag ? '' : `\`--${flagOf(name)}\``,
    wordsFor(facts.takes),
    defaultOf(name),
    facts.isFixed ? '' : 'yes',
    facts.text,
  ])
  const viewRows = Object.entries(views).map(([name, { text, example }]) => [
    `\`/${name}${example ? '/{collection}' : ''}\``,
    text,
    `\`curl ${control}/${name}${example ? `/${example}` : ''}\``,
  ])
  return [
    '## Options',
    table(['Option', 'Flag', 'Values', 'Default', 'While it runs', 'Meaning'], optionRows),
    '## Commands',
    ...Object.entries(commands).map(([path, { text, takes = {}, example }]) =>
      [
        `### POST ${path}`,
        text,
        ...argumentTable(takes),
        `\`\`\`sh\ncurl -d '${JSON.stringify(example)}' ${control}${path}\n\`\`\``,
      ].join('\n\n'),
    ),
    '## Views',
    table(['GET', 'Returns', 'Example'], viewRows),
  ].join('\n\n')
}

/** The default of an option as `--help` and the document print it, for both dialects. */
export function defaultOf(name: string): string {
  const [documentation = '', specification = ''] = (
    ['documentation', 'specification'] as const
  ).map((dialect) => {
    const options = { ...resolveOptions({ dialect, port: 4010, controlPort: 4011 }) }
    return plain((options as Readonly<Record<string, unknown>>)[name])
  })
  if (name === 'dialect' || documentation === specification) return documentation
  return `${documentation}, in the specification ${specification}`
}

function argumentTable(takes: Readonly<Record<string, Argument>>): string[] {
  const rows = Object.entries(takes).map(([name, argument]) => [
    `\`${name}\``,
    typeof argument.takes === 'string' ? argument.takes : argument.takes.join(', '),
    argument.isOptional ? '' : 'yes',
    argument.text,
  ])
  return rows.length === 0 ? [] : [table(['Argument', 'Type', 'Required', 'Meaning'], rows)]
}

function plain(value: unknown): string {
  if (value === undefined) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
