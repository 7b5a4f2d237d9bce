import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execute, freePort, installDebian, output } from '../command.ts'

/** A PostgreSQL server of our own on loopback. */
export interface PostgreSql {
  readonly port: number
  readonly user: string
  readonly password: string
  /** The folder of its data. */
  readonly data: string
  /** What a statement answers, unaligned: a line for each row. */
  query(sql: string): Promise<string>
  /** Ends all of its processes at once, as a failing machine would, and starts it again. */
  crash(): Promise<void>
  stop(): Promise<void>
}

const USER = 'protime'
const PASSWORD = 'loopback-only'
const INSTALLED = '/usr/lib/postgresql'

/**
 * Starts the server of Debian's package `postgresql`, which is installed when it is missing, with a
 * data folder below `folder`. The server refuses to run as root: then `nobody` runs it.
 */
export async function startPostgreSql(folder: string): Promise<PostgreSql> {
  const bin = programs()
  const home = join(folder, 'postgresql')
  mkdirSync(home)
  const passwordFile = join(home, 'password')
  writeFileSync(passwordFile, PASSWORD)
  giveAway(folder, home)
  const data = join(home, 'data')
  const initdb = ['-D', data, '-U', USER, `--pwfile=${passwordFile}`, '-A', 'scram-sha-256']
  await output(unprivileged(join(bin, 'initdb'), [...initdb, '--no-sync', '-E', 'UTF8']))
  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${home}`,
    'fsync=off',
  ].flatMap((setting) => ['-c', setting])
  const server = unprivileged(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings])
  const start = async () => {
    const child = spawn(server.program, server.args, { cwd: '/', stdio: 'ignore' })
    await answering(child, query)
    return child
  }
  const query = (sql: string) =>
    output({
      program: join(bin, 'psql'),
      args: ['-h', '127.0.0.1', '-p', String(port), '-U', USER, '-d', 'postgres', '-XAtqc', sql],
      folder: '/',
      environment: { PGPASSWORD: PASSWORD },
    })
  let child = await start()
  return {
    port,
    user: USER,
    password: PASSWORD,
    data,
    query,
    async crash() {
      await stop(child, join(bin, 'pg_ctl'), data)
      child = await start()
    },
    stop: () => stop(child, join(bin, 'pg_ctl'), data),
  }
}

/** The folder with the server's programs; the client's package alone makes such a folder, too. */
function programs(): string {
  if (installed() === undefined) installDebian('postgresql')
  const bin = installed()
  if (bin === undefined)
    throw new Error(`the package postgresql has left no initdb in ${INSTALLED}`)
  return bin
}

function installed(): string | undefined {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : []
  return versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(INSTALLED, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')))
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function giveAway(parent: string, home: string): void {
  if (!isRoot()) return
  chmodSync(parent, 0o755)
  execFileSync('chown', ['-R', 'nobody', home])
}

function unprivileged(program: string, args: readonly string[]) {
  return isRoot()
    ? { program: 'runuser', args: ['-u', 'nobody', '--', program, ...args], folder: '/' }
    : { program, args, folder: '/' }
}

async function answering(child: ChildProcess, query: (sql: string) => Promise<string>) {
  for (let tries = 0; ; tries++) {
    const isUp = await query('select 1').then(
      () => true,
      () => false,
    )
    if (isUp) return
    if (tries === 100 || child.exitCode !== null) {
      child.kill()
      throw new Error('PostgreSQL did not start')
    }
    await sleep(100)
  }
}

/** By the server's own tool: runuser does not pass signals on in every version. */
async function stop(child: ChildProcess, control: string, data: string): Promise<void> {
  const ended = child.exitCode === null ? once(child, 'exit') : undefined
  await execute(unprivileged(control, ['stop', '-D', data, '-m', 'immediate', '-w']))
  await ended
}
