import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { sign } from '../../src/webhooks/receive/verify.ts'
import { expectSame, output } from '../engines/command.ts'
import { freePort, start } from '../engines/program.ts'

const PATH = '/hooks/people/Vb2nR7tQxYw0ZkLm3cHs'
const KEY = 'k3y-é/+='
/** Before any of the flags by which a Worker gets what Node has. */
const COMPATIBILITY_DATE = '2023-03-01'

/** What a queue of the platform would be: it tells what it got. */
const MAIN = `import worker from './worker.js'
const QUEUE = { send: async (event) => console.log(JSON.stringify(event)) }
export default { fetch: (request, env) => worker.fetch(request, { ...env, QUEUE }) }
`

/**
 * Runs the Worker of docs/library.md in workerd, with the packed package for the published one. workerd is
 * installed here and is no dependency: it has 160 MB.
 */
export async function tryWorker(parent: string, archive: string): Promise<void> {
  const folder = join(parent, 'worker')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'worker.js'), guideBlock('js worker', 'docs/library.md'))
  writeFileSync(join(folder, 'main.js'), MAIN)
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', archive, 'workerd']
  await output({ program: 'npm', args, folder })
  const port = await freePort()
  writeFileSync(join(folder, 'worker.capnp'), configuration(folder, port))
  // The program itself: that of npm starts it as another process, which would go on.
  const find = ['-p', "require('workerd').default"]
  const workerd = await output({ program: process.execPath, args: find, folder })
  const line = `'${workerd.trim()}' serve worker.capnp`
  const worker = start(line, { folder, environment: {} })
  try {
    await answers(port)
    const body = '{"id":7,"changeVersion":"00A","firstName":"Zoë"}'
    expectSame(await deliver(port, body, await sign(body, KEY)), 200)
    expectSame(await deliver(port, body, await sign(body, 'another key')), 401)
    const [told = ''] = worker.said().split('\n')
    expectSame(JSON.parse(told), {
      collection: 'people',
      id: 7,
      data: JSON.parse(body) as unknown,
    })
  } finally {
    await worker.kill()
  }
}

async function deliver(port: number, body: string, authorization: string): Promise<number> {
  const url = `http://127.0.0.1:${port}${PATH}`
  return (await fetch(url, { method: 'POST', headers: { authorization }, body })).status
}

async function answers(port: number): Promise<void> {
  const isUp = () => deliver(port, '', '').then(Boolean, () => false)
  for (let tries = 0; !(await isUp()); tries++) {
    if (tries === 100) throw new Error('workerd did not start')
    await sleep(100)
  }
}

/** What workerd is started with: it finds no modules by itself. */
function configuration(folder: string, port: number): string {
  const root = 'node_modules/source-protime'
  const { exports } = JSON.parse(readFileSync(join(folder, root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>
  }
  const entry = join(root, exports['./webhooks']?.default ?? '')
  const modules = reachable(folder, entry).map((file) => {
    // Names are resolved against that of the module that imports.
    const name = join('source-protime', relative(dirname(entry), file))
    return [file === entry ? 'source-protime/webhooks' : name, file] as const
  })
  const list = [['main.js', 'main.js'], ['worker.js', 'worker.js'], ...modules].map(
    ([name, file]) => `(name = "${name}", esModule = embed "${file}")`,
  )
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [(name = "WEBHOOK_PATH", text = "${PATH}"), (name = "WEBHOOK_KEY", text = "${KEY}")],
  modules = [${list.join(',\n')}]
);
`
}

/** A file and all that it imports, by paths below the folder. */
function reachable(folder: string, file: string, found = new Set<string>()): string[] {
  if (found.has(file)) return []
  found.add(file)
  const text = readFileSync(join(folder, file), 'utf8')
  for (const [, to = ''] of text.matchAll(/from '([^']+)'/g))
    reachable(folder, join(dirname(file), to), found)
  return [...found]
}
