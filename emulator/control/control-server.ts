import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenOn, originOf } from '../http/http-server.ts'
import { commands, runCommand, views } from './commands.ts'
import type { Controls } from './controls.ts'
import { referenceText } from './reference-text.ts'

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
