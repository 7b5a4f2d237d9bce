import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:https'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from '../../scripts/demo/service.ts'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { packageFolder } from '../../src/ground/project-files.ts'
import { sign } from '../../src/webhooks/receive/delivery.ts'
import { execute, expectSame, freePort, installDebian, output, start } from '../engines/command.ts'
import { pythonWith } from '../engines/python.ts'
import { verifiedDifferences } from '../testing/protime.ts'

/** What became of one run of a tenant. */
export interface Run {
  readonly tenant: string
  readonly status: string
  /** Seconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number
  readonly retries: number
  readonly metadata: Readonly<Record<string, number>>
}

/** A Dagster instance of its own, with the project of `deploy/dagster`. */
export interface Dagster {
  /** Starts the daemon, which runs sensor, schedule and queue; the answer stops it. */
  start(settings: Readonly<Record<string, string>>): () => Promise<void>
  /** Runs a command of `dagster` on the project. */
  command(...words: readonly string[]): Promise<string>
  /** Waits until there are as many runs (with a tag), and none that has not ended. */
  ended(count: number, tag?: string): Promise<readonly Run[]>
  /** Waits until there are as many runs with a tag, ended or not. */
  requested(count: number, tag: string): Promise<void>
  /** What the programs of the runs have written to stderr, by run. */
  logs(): readonly string[]
}

const project = join(packageFolder(), 'deploy', 'dagster')

/** Installs the Dagster of the guide at the first use, and makes an instance in a folder. */
export function createDagster(folder: string, settings: Readonly<Record<string, string>>): Dagster {
  const guide = readFileSync(join(packageFolder(), 'docs', 'many-tenants.md'), 'utf8')
  const [, requirement = ''] = /\/pip install (dagster==\S+)$/m.exec(guide) ?? []
  const python = pythonWith('dagster', [requirement])
  const program = (name: string) => join(dirname(python), name)
  const home = join(folder, 'dagster')
  mkdirSync(join(home, 'storage'), { recursive: true })
  copyFileSync(join(project, 'dagster.yaml'), join(home, 'dagster.yaml'))
  const environment = {
    ...settings,
    DAGSTER_HOME: home,
    DO_NOT_TRACK: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const file = join(project, 'protime_tenants.py')
  const runs = async (...args: readonly string[]) => {
    const watch = join(packageFolder(), 'integration-tests', 'deploy', 'runs.py')
    const text = await output({ program: python, args: [watch, ...args], folder, environment })
    return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Run[]
  }
  return {
    start(more) {
      const daemon = spawn(python, [program('dagster-daemon'), 'run', '-f', file], {
        cwd: folder,
        env: { ...process.env, ...environment, ...more },
        // A group of its own: the daemon leaves a code server behind for a while.
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const ended = once(daemon, 'close')
      const kill = () => killGroup(daemon.pid ?? 0)
      process.once('exit', kill)
      return async () => {
        daemon.kill('SIGTERM')
        await ended
        kill()
        process.off('exit', kill)
      }
    },
    command: (...words) =>
      output({
        program: python,
        args: [program('dagster'), ...words, '-f', file],
        folder,
        environment,
      }),
    ended: (count, tag = '') => runs(String(count), tag),
    requested: async (count, tag) => void (await runs(String(count), tag, 'requested')),
    logs: () => logsBelow(join(home, 'storage')),
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function logsBelow(folder: string): string[] {
  const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return logs
    .filter((name) => name.endsWith('.err'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
}

/** It carries the schemas of all versions of Kubernetes, and sends no requests. */
const REQUIREMENTS = ['kubernetes-validate==1.37.0']
/** The oldest version that has everything that the manifests use, and the newest. */
const VERSIONS = ['1.29', '1.37']

/** Checks the manifests of `deploy/kubernetes` by the schemas of Kubernetes; throws what is wrong. */
export async function validateManifests(
  folder: string,
  say: (line: string) => void,
): Promise<void> {
  const python = pythonWith('kubernetes', REQUIREMENTS)
  const manifests = join(packageFolder(), 'deploy', 'kubernetes')
  const files = readdirSync(manifests).filter((name) => name.endsWith('.yaml'))
  for (const version of VERSIONS) {
    const program = join(dirname(python), 'kubernetes-validate')
    const args = [program, '--kubernetes-version', version, '--strict']
    await output({
      program: python,
      args: [...args, ...files.map((name) => join(manifests, name))],
      folder,
    })
    say(`ok    Kubernetes ${version} takes ${files.join(', ')}`)
  }
}

const KEY = 'k3y-é/+='
const PATH = '/protime/hooks/clockings/Vb2nR7tQxYw0ZkLm3cHs'
const CERTIFICATES = join(packageFolder(), 'integration-tests', 'testing', 'certificates.pem')
const BODY = '{"changeVersion":"00000A1000005C200020","id":4712,"name":"Zoë €"}'
const ATTEMPTS = 100

/** A delivery through nginx as docs/webhooks.md sets it up, which ends TLS; throws what is wrong. */
export async function deliverThroughNginx(
  parent: string,
  say: (line: string) => void,
): Promise<void> {
  if (spawnSync('sh', ['-c', 'command -v nginx']).status !== 0) installDebian('nginx-light')
  const folder = join(parent, 'nginx')
  mkdirSync(folder)
  const [tls, plain] = [await freePort(), await freePort()]
  const store = [{ collection: 'clockings', destinationUrl: `https://a.example${PATH}`, key: KEY }]
  writeFileSync(join(folder, 'webhooks.json'), JSON.stringify({ version: 1, webhooks: store }))
  const client = { tenant: 'acme', client_id: 'none', client_secret: 'is used' }
  // Nothing listens there: the webhook of the store stays in use.
  const nobody = 'http://127.0.0.1:1'
  const environment = { type: 'custom', base_url: nobody, auth_url: nobody }
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...client, environment }))
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, tls, plain))
  const options = { folder, environment: {} }
  const server = start(
    `${join(packageFolder(), 'bin', 'protime')} webhooks serve --config config.json --store webhooks.json --collection clockings --listen 127.0.0.1:${plain} --public-url https://a.example/protime --run true`,
    options,
  )
  const nginx = start(`nginx -p ${folder} -c ${folder}/nginx.conf -g 'daemon off;'`, options)
  try {
    const signature = await sign(BODY, KEY)
    const deliver = () => post(tls, PATH, signature).catch(() => undefined)
    let status = await deliver()
    for (let attempt = 0; status !== 200 && attempt < ATTEMPTS; attempt++) {
      await sleep(100)
      status = await deliver()
    }
    expectSame(
      [status, await post(tls, PATH, await sign(BODY, 'another')), await post(tls, '/healthz', '')],
      [200, 401, 404],
    )
    await server.kill('SIGTERM')
    const isTold = () => readFileSync(join(folder, 'error.log'), 'utf8').includes(PATH)
    expectSame([await post(tls, PATH, signature), isTold()], [502, false])
    say('ok    nginx passes deliveries on as they came, and nothing else')
  } finally {
    await Promise.all([nginx.kill('SIGTERM'), server.kill('SIGTERM')])
  }
}

/** The configuration of the guide, with what differs on this machine. */
function configuration(folder: string, tls: number, plain: number): string {
  const guide = readFileSync(join(packageFolder(), 'docs', 'webhooks.md'), 'utf8')
  const shown = /```nginx\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''
  const block = shown
    .replace('listen 443 ssl', `listen 127.0.0.1:${tls} ssl`)
    .replace('127.0.0.1:8080', `127.0.0.1:${plain}`)
    .replace('/etc/nginx/hooks.pem', CERTIFICATES)
    .replace('/etc/nginx/hooks.key', CERTIFICATES)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  return `pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {} http { access_log off; ${temporary.join(' ')} ${block} }`
}

function post(port: number, path: string, authorization: string): Promise<number | undefined> {
  const ca = readFileSync(CERTIFICATES)
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, ca, method: 'POST', headers: { authorization } },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    sent.on('error', reject).end(BODY)
  })
}

const PAGE = join(packageFolder(), 'docs', 'schedule.md')
const BIN = join(packageFolder(), 'bin')
const PACKAGES = 'npx -y -p source-protime -p @duckdb/node-api '

/** What the examples of docs/schedule.md work with. */
interface Place {
  readonly folder: string
  readonly config: string
  say(line: string): void
  /** Throws where the warehouse of the folder is not what the service has, and removes it. */
  expectWarehouse(): Promise<void>
}

/** Runs the examples of docs/schedule.md for cron, systemd and GitHub Actions as they stand; throws what is wrong. */
export async function trySchedules(
  parent: string,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const service = await startService({ people: 5, months: 1, pageSize: 100 }, signal)
  const folder = join(parent, 'schedules')
  mkdirSync(folder)
  const config = JSON.stringify(await service.config())
  const file = join(folder, 'protime.duckdb')
  const expectWarehouse = async () => {
    expectSame(await verifiedDifferences(JSON.parse(config), '--warehouse', file), [])
    rmSync(file)
  }
  try {
    const place = { folder, config, say, expectWarehouse }
    await tryCron(place)
    await trySystemd(place)
    await tryGitHub(place)
  } finally {
    await service.stop()
  }
}

async function tryCron({ folder, config, say, expectWarehouse }: Place): Promise<void> {
  writeFileSync(join(folder, 'config.json'), config, { mode: 0o600 })
  const [, time, command = ''] = /^((?:\S+ ){5})(.*)\n$/.exec(guideBlock('crontab', PAGE)) ?? []
  expectSame(time, '30 2 * * * ')
  const args = ['-c', command.replace('/srv/protime', folder)]
  // cron's own environment, with the programs.
  const PATH = `${BIN}:${dirname(process.execPath)}:/usr/bin:/bin`
  execFileSync('/bin/sh', args, { cwd: '/', env: { PATH, HOME: folder } })
  await expectWarehouse()
  const locked = `exec 9> ${join(folder, 'sync.lock')}; flock 9; ${args[1]}`
  const environment = { PATH }
  const { exitCode } = await execute({ program: 'sh', args: ['-c', locked], folder, environment })
  expectSame([exitCode, existsSync(join(folder, 'protime.duckdb'))], [1, false])
  say('ok    cron runs the line of the guide, and no second sync beside it')
}

async function trySystemd({ folder, config, say, expectWarehouse }: Place): Promise<void> {
  const program = join(BIN, 'protime')
  const service = guideBlock('ini service', PAGE).replace('/usr/local/bin/protime', program)
  writeFileSync(join(folder, 'protime-sync.service'), service)
  writeFileSync(join(folder, 'protime-sync.timer'), guideBlock('ini timer', PAGE))
  const units = ['service', 'timer'].map((kind) => join(folder, `protime-sync.${kind}`))
  const args = ['verify', '--man=no', ...units]
  const { exitCode, stderr } = await execute({ program: 'systemd-analyze', args, folder })
  // What it says of other units of the machine is not of these.
  const faults = stderr.split('\n').filter((line) => line.includes('protime-sync'))
  expectSame([exitCode, faults], [0, []])
  expectSame(/^RestartPreventExitStatus=2$/m.test(service), true)
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(service) ?? []
  writeFileSync(join(folder, 'config.json'), config, { mode: 0o600 })
  const words = command.replace('/etc/protime', folder).split(' ')
  await output({ program: words[0] ?? '', args: words.slice(1), folder })
  await expectWarehouse()
  say('ok    systemd takes the units of the guide, and their command syncs')
}

async function tryGitHub({ folder, config, say, expectWarehouse }: Place): Promise<void> {
  const workflows = join(folder, '.github', 'workflows')
  mkdirSync(workflows, { recursive: true })
  const file = join(workflows, 'sync.yml')
  writeFileSync(file, guideBlock('yaml github', PAGE))
  const { scripts } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>
  }
  await output({
    program: 'sh',
    args: ['-c', `${scripts['lint:workflows']} ${file}`],
    folder: packageFolder(),
  })
  const [, command = ''] = /- run: (.*)\n/.exec(guideBlock('yaml github', PAGE)) ?? []
  if (!command.includes(PACKAGES)) throw new Error(`The step installs otherwise: ${command}`)
  rmSync(join(folder, 'config.json'))
  await output({
    program: 'sh',
    args: ['-e', '-c', command.replace(PACKAGES, '')],
    folder,
    environment: { CONFIG: config, PATH: `${BIN}:${process.env['PATH']}` },
  })
  await expectWarehouse()
  say('ok    GitHub Actions takes the workflow of the guide, and its step syncs')
}
