import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Span } from './clock.ts'
import type { Emulator } from './emulator.ts'
import type { FailOptions, FaultKind, FaultOptions } from './faults.ts'
import { listenOn } from './listen-on.ts'
import type { ChangeWish } from './random-changes.ts'
import type { Fields, Id } from './store.ts'

/** The body of a control request: the arguments of the verb of the same name, by name. */
type Arguments = Fields & {
  readonly collection: string
  readonly id: Id
  readonly path: string
  /** In place of `path`: a regular expression. */
  readonly pattern?: string
}

type Command = (emulator: Emulator, given: Arguments) => unknown

/** What can be posted. Everything is answered with 200 and the verb's result as JSON. */
const commands: Readonly<Record<string, Command>> = {
  '/advance': (emulator, given) => {
    emulator.advance(given as Span)
    return { now: emulator.now() }
  },
  '/insert': (emulator, given) => emulator.insert(given.collection, given['record'] as Fields),
  '/update': (emulator, given) =>
    emulator.update(given.collection, given.id, given['patch'] as Fields | undefined),
  '/remove': (emulator, given) => emulator.remove(given.collection, given.id),
  '/soft-delete': (emulator, given) => emulator.softDelete(given.collection, given.id),
  '/restore': (emulator, given) => emulator.restore(given.collection, given['record'] as Fields),
  '/changes': (emulator, given) => emulator.randomChanges(given as ChangeWish),
  '/fail': (emulator, given) =>
    emulator.fail(pathOf(given), Number(given['status']), given as FailOptions),
  '/fault': (emulator, given) =>
    emulator.fault(pathOf(given), given['kind'] as FaultKind, given as FaultOptions),
  '/clear-faults': (emulator) => emulator.clearFaults(),
  '/expire-tokens': (emulator) => emulator.expireTokens(),
  '/expire-delta': (emulator, given) => emulator.expireDelta(given.collection),
  '/expire-continuations': (emulator, given) =>
    emulator.expireContinuations(given['status'] as 400 | 409 | 410 | undefined),
  '/steal-delta': (emulator, given) => emulator.stealDelta(given.collection),
  '/set-reference': (emulator, given) =>
    emulator.setReference(
      given.collection,
      String(given['name']),
      String(given['value']),
      given.id,
    ),
  '/remove-reference': (emulator, given) =>
    emulator.removeReference(given.collection, String(given['name']), String(given['value'])),
  '/options': (emulator, given) => Object.assign(emulator.options, given),
}

const views: Readonly<Record<string, (emulator: Emulator, collection: string) => unknown>> = {
  all: (emulator, collection) => emulator.all(collection),
  stored: (emulator, collection) => emulator.stored(collection),
  requests: (emulator) => emulator.requests,
  now: (emulator) => ({ now: emulator.now() }),
  config: (emulator) => emulator.config(),
}

/**
 * Opens the control endpoint on loopback: the emulator's verbs over HTTP for programs in other
 * processes. It has no password; a verb that throws is a 400 with the sentence.
 */
export function listenForControl(emulator: Emulator, port: number): Promise<Server> {
  const server = createServer(async (message, response) => {
    const { status, body } = await command(emulator, message)
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body ?? {}))
  })
  return listenOn(server, port)
}

async function command(emulator: Emulator, message: IncomingMessage) {
  const path = message.url ?? '/'
  try {
    if (message.method === 'GET') return view(emulator, path)
    const text = (await buffer(message)).toString()
    const run = message.method === 'POST' ? commands[path] : undefined
    if (!run) return unknown(path)
    return { status: 200, body: run(emulator, JSON.parse(text === '' ? '{}' : text)) }
  } catch (error) {
    return { status: 400, body: { error: error instanceof Error ? error.message : String(error) } }
  }
}

function view(emulator: Emulator, path: string) {
  const [name = '', collection = ''] = path.slice(1).split('/')
  const show = views[name]
  return show ? { status: 200, body: show(emulator, collection) } : unknown(path)
}

function unknown(path: string) {
  const known = [...Object.keys(commands), ...Object.keys(views).map((name) => `GET /${name}`)]
  return { status: 404, body: { error: `${path} is no command. There are: ${known.join(', ')}` } }
}

function pathOf({ path, pattern }: Arguments): string | RegExp {
  if (pattern !== undefined) return new RegExp(pattern)
  if (typeof path !== 'string') throw new TypeError('path or pattern is missing')
  return path
}
