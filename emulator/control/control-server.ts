import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenOn, originOf } from '../http/http-server.ts'
import { resolveOptions } from '../options.ts'
import { type Argument, commands, runCommand, views } from './commands.ts'
import type { Controls } from './controls.ts'
import { flagOf, optionFacts, wordsFor } from './option-facts.ts'

interface ControlResponse {
  readonly status: number
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent unchanged, instead of a body. */
  readonly text?: string
}

/**
 * Opens the control endpoint on loopback: the controls over HTTP, for other processes. It has no password. If
 * a command throws, the answer is a 400 with the message. `GET /` lists the commands.
 */
export function listenForControl(controls: Controls, port: number): Promise<Server> {
  const server = createServer(async (message, response) => {
    const { status, body, text } = await handle(controls, message, originOf(server))
    const type = text === undefined ? 'application/json' : 'text/markdown'
    response.writeHead(status, { 'content-type': `${type}; charset=utf-8` })
    response.end(text ?? JSON.stringify(body ?? {}))
  })
  return listenOn(server, port)
}

async function handle(
  controls: Controls,
  message: IncomingMessage,
  origin: string,
): Promise<ControlResponse> {
  const path = message.url ?? '/'
  if (!isOfThisMachine(message))
    return {
      status: 403,
      body: { error: 'Only programs and pages of this machine may control it.' },
    }
  try {
    if (message.method === 'GET') return view(controls, path, origin)
    const text = (await buffer(message)).toString()
    const command = message.method === 'POST' ? commands[path] : undefined
    if (!command) return unknown(path)
    return { status: 200, body: await runCommand(controls, command, JSON.parse(text || '{}')) }
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error)
    return { status: 400, body: { error: `${path}: ${sentence}. GET / says what there is.` } }
  }
}

const LOOPBACK = /^(https?:\/\/)?(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i

/**
 * Whether no page of another host sent a request: a browser says in `Origin` whose page it shows, and a name that
 * leads to this machine stays in `Host`.
 */
function isOfThisMachine({ headers: { host = '', origin } }: IncomingMessage): boolean {
  return LOOPBACK.test(host) && (origin === undefined || LOOPBACK.test(origin))
}

function view(controls: Controls, path: string, origin: string): ControlResponse {
  if (path === '/') return { status: 200, text: `${referenceText(origin)}\n` }
  const [name = '', collection = ''] = path.slice(1).split('/')
  const wanted = views[name]
  return wanted ? { status: 200, body: wanted.show(controls, collection) } : unknown(path)
}

function unknown(path: string): ControlResponse {
  const known = [...Object.keys(commands), ...Object.keys(views).map((name) => `GET /${name}`)]
  return { status: 404, body: { error: `${path} is no command. There are: ${known.join(', ')}` } }
}

/** The default address of the control endpoint. */
export const defaultControl = 'http://127.0.0.1:4011'

/**
 * The options and the control endpoint in Markdown, with examples for a control endpoint at this
 * origin, as `GET /` of the endpoint returns them.
 */
function referenceText(control: string): string {
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

/** The default of an option as `--help` and `GET /` print it, for both dialects. */
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
