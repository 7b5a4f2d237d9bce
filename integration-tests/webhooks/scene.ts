import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/emulator.ts'
import { runProtime } from '../../src/cli/main.ts'
import { streamOf, webhookCollections } from '../../src/client/service-client.ts'
import { reply, startHttpService } from '../../src/http/testing/http-service.ts'
import { type Child, startChild } from '../testing/child.ts'
import { configuredCatalog, temporaryFolder } from '../testing/files.ts'
import { createCollector } from '../testing/output.ts'
import { type ProtimeRun, protime as runCommand } from '../testing/protime.ts'
import { parseLines, run } from '../testing/run.ts'
import { createWarehouse, differences } from '../testing/warehouse.ts'

export const PUBLIC_URL = 'https://hooks.acme.example'

/** Waits that make a test short; the service's time is the emulator's virtual clock. */
const SHORT = {
  '--debounce': '0.05',
  '--max-wait': '0.5',
  '--min-interval': '0.1',
  '--watch-interval': '0.2',
  '--retry': '0.2',
}
const SYNC = fileURLToPath(new URL('./sync.mjs', import.meta.url))

/** What a trigger was told. */
interface Order {
  readonly reason: string
  readonly streams: readonly string[]
}

/** The page of `/healthz`. */
interface Health {
  readonly collections: Record<
    string,
    { status: string; validUntil: string | null; reason?: string }
  >
  readonly failures: number
  readonly lastSync: string | null
}

/** A `protime webhooks serve` that runs, and listens. */
export interface Server {
  readonly url: string
  /** Everything that it has said so far. */
  heard(): string
  health(): Promise<{ readonly status: number } & Health>
  metrics(): Promise<string>
  /** Ends it, when what is under way is done; a process at once. */
  stop(): Promise<void>
}

/** One with a process of its own. */
export type ServerProcess = Server & Child

/** A service, and a folder with what a receiver and a platform keep. */
export interface Scene {
  readonly emulator: Emulator
  readonly folder: string
  /**
   * Serves in this process. Options that a test changes take the place of the usual ones; undefined takes one
   * away.
   */
  serve(options?: Options, environment?: Readonly<Record<string, string>>): Promise<Server>
  /** Serves in a process that can be killed, which takes a quarter of a second more of a processor. */
  serveApart(options?: Options): Promise<ServerProcess>
  /** Runs another command of `protime` to its end, in this process. */
  protime(...words: readonly string[]): Promise<ProtimeRun>
  /** The command line of a server. */
  words(options?: Options): string[]
  file(name: string): string
  /** Writes JSON into the folder. */
  write(name: string, content: unknown): void
  /** The webhooks in the store. */
  stored(): { id: string; collection: string; destinationUrl: string; state: string; key: string }[]
  /** Webhooks at the service that are not deleted. */
  live(): Record<string, unknown>[]
  /** What the command `noted` was run with so far. */
  orders(): Order[]
  /**
   * The option with the address of a scheduler: it syncs in this process what the catalog chooses, a tenth of the
   * work of `synced`, and answers when the sync and what comes `afterwards` is over.
   */
  scheduler(afterwards?: () => Promise<void>): Promise<Options>
  /** Where the warehouses of `synced` or of the scheduler differ from the service. */
  differences(): string[]
}

export type Options = Readonly<Record<`--${string}`, string | true | undefined>>

/** Collections for tests that are not of all: each costs a webhook, and a stream in each sync. */
export const FEW = ['absences', 'clockings', 'people'] as const

/** A scene whose server keeps webhooks of these collections, and whose pipeline reads their streams. */
export async function startScene(
  options: EmulatorOptions = {},
  collections: readonly string[] = webhookCollections,
): Promise<Scene> {
  const emulator = await startEmulator({
    people: 2,
    months: 0,
    clients: [{ id: 'connector', secret: 'emulator-secret', scopes: 'all' }],
    ...options,
  })
  onTestFinished(() => emulator.close())
  const { path: folder, remove } = temporaryFolder()
  onTestFinished(remove)
  const file = (name: string) => join(folder, name)
  const write = (name: string, content: unknown) =>
    writeFileSync(file(name), JSON.stringify(content), { mode: 0o600 })
  const config = { ...emulator.config(), start_date: undefined, concurrency: 1, retry_minutes: 0.2 }
  write('config.json', config)
  write('catalog.json', configuredCatalog(collections.map(streamOf)))
  return {
    emulator,
    folder,
    serve,
    serveApart,
    protime,
    words,
    file,
    write,
    stored,
    live,
    orders,
    scheduler,
    differences: compare,
  }

  function words(changed: Options = {}): string[] {
    const usual: Options = {
      '--config': file('config.json'),
      '--public-url': PUBLIC_URL,
      '--listen': '127.0.0.1:0',
      '--store': file('webhooks.json'),
      '--run': noted(folder),
      ...(collections === webhookCollections ? {} : { '--collection': collections.join(',') }),
      ...SHORT,
    }
    const given = Object.entries({ ...usual, ...changed })
    return [
      'webhooks',
      'serve',
      ...given.flatMap(([name, value]) =>
        value === undefined ? [] : value === true ? [name] : [name, value],
      ),
    ]
  }

  async function serve(
    changed: Options = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    const [stdout, stderr] = [createCollector(), createCollector()]
    let exitCode: number | undefined
    const ended = runProtime(words(changed), { stdout, stderr, env }).then((code) => {
      exitCode = code
    })
    const heard = () => stderr.text()
    const stop = async () => {
      // As if the program that reads what it says had gone.
      stdout.destroy()
      await ended
    }
    onTestFinished(stop)
    while (addressIn(heard()) === undefined) {
      if (exitCode !== undefined) throw new Error(`the server ended with ${exitCode}: ${heard()}`)
      await sleep(10)
    }
    return { ...deliveredTo(addressIn(heard()) ?? ''), heard, stop }
  }

  async function serveApart(changed: Options = {}): Promise<ServerProcess> {
    const child = startChild('protime', words(changed), { cwd: folder, isMerged: true })
    onTestFinished(() => child.stop())
    await child.until(() => addressIn(child.heard()) !== undefined, 'it listens')
    return { ...child, ...deliveredTo(addressIn(child.heard()) ?? '') }
  }

  /** What is asked of the server at an address, to which the service delivers from now on. */
  function deliveredTo(url: string): Pick<Server, 'url' | 'health' | 'metrics'> {
    emulator.options.deliverTo = url
    return {
      url,
      metrics: async () => (await fetch(`${url}/metrics`)).text(),
      async health() {
        const response = await fetch(`${url}/healthz`)
        return { ...((await response.json()) as Health), status: response.status }
      },
    }
  }

  async function protime(...given: readonly string[]): Promise<ProtimeRun> {
    const config = given.includes('--config') ? [] : ['--config', file('config.json')]
    return runCommand(...given, ...config)
  }

  function stored(): ReturnType<Scene['stored']> {
    return existsSync(file('webhooks.json'))
      ? JSON.parse(readFileSync(file('webhooks.json'), 'utf8')).webhooks
      : []
  }

  function live(): Record<string, unknown>[] {
    return emulator.webhooks().filter((webhook) => webhook['isDeleted'] !== true)
  }

  function orders(): Order[] {
    const text = existsSync(file('orders')) ? readFileSync(file('orders'), 'utf8') : ''
    return text.split('\n').flatMap((line) => {
      const [reason = '', names = ''] = line.split(' ')
      return line === '' ? [] : [{ reason, streams: names.split(',') }]
    })
  }

  async function scheduler(afterwards = async () => {}): Promise<Options> {
    const states = new Map<string, object>()
    let syncs = 0
    let last = Promise.resolve(0)
    onTestFinished(async () => void (await last))
    const sync = async () => {
      const catalog = JSON.parse(readFileSync(file('catalog.json'), 'utf8')) as object
      const files = { config, catalog, state: [...states.values()] }
      const outcome = await run({
        program: 'source-protime',
        command: 'read',
        in: 'process',
        ...files,
      })
      writeFileSync(file(`sync.${String(syncs++).padStart(6, '0')}.jsonl`), outcome.stdout)
      for (const { state } of outcome.messages) {
        const name = state?.stream.stream_descriptor.name
        if (name !== undefined) states.set(name, { type: 'STREAM', stream: state?.stream })
      }
      await afterwards()
      return outcome.exitCode === 0 ? 200 : 500
    }
    const { origin } = await startHttpService(async ({ body }, response) => {
      const { reason, streams } = JSON.parse(body) as Order
      appendFileSync(file('orders'), `${reason} ${streams.join(',')}\n`)
      last = last.then(sync)
      reply(response, await last, {})
    })
    return { '--run': undefined, '--post': origin }
  }

  function compare(): string[] {
    const syncs = readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
    return (['highest-cursor', 'last-write'] as const).flatMap((rule) => {
      const warehouse = createWarehouse(rule)
      for (const name of syncs) warehouse.load(parseLines(readFileSync(file(name), 'utf8')))
      return collections.flatMap((collection) =>
        differences(
          `${rule}: ${collection}`,
          warehouse.rows(streamOf(collection)),
          emulator.all(collection),
        ),
      )
    })
  }
}

/** Where a server listens, once its log says so. */
function addressIn(log: string): string | undefined {
  return /Listens at (http\S+)/.exec(log)?.[1]
}

/** How many deliveries a server has answered, by the status code. */
export async function answers(server: Server): Promise<Record<string, number>> {
  const text = await server.metrics()
  const counts = text.matchAll(/deliveries_total\{code="(\d+)"\} (\d+)/g)
  return Object.fromEntries([...counts].map(([, code, count]) => [code, Number(count)]))
}

/** A command that only notes what it was run with. */
export function noted(folder: string): string {
  return `echo "$PROTIME_REASON $PROTIME_STREAMS" >> ${join(folder, 'orders')}`
}

/** A command that notes it, and syncs: two that run at once follow each other. */
export function synced(folder: string): string {
  return `${noted(folder)}; flock ${join(folder, 'lock')} ${process.execPath} ${SYNC} ${folder}`
}

const LATE_MS = 30_000

/** Waits for what comes sooner or later; what is long to look at is looked at seldom. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const begunAt = performance.now()
  for (;;) {
    const askedAt = performance.now()
    if (await condition()) return
    const now = performance.now()
    if (now - begunAt > LATE_MS) throw new Error(`it does not happen: ${condition}`)
    await sleep(Math.max(20, 5 * (now - askedAt)))
  }
}
