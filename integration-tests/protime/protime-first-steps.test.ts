import {
  chmodSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { PassThrough, type Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { runProtime } from '../../src/cli/main.ts'
import { streams } from '../../src/streams/streams.ts'
import { temporaryFolder } from '../testing/files.ts'
import { createCollector } from '../testing/output.ts'
import { protime as runHere, withDuckDb } from '../testing/protime.ts'
import { parseLines } from '../testing/run.ts'

let emulator: Emulator
let folder: ReturnType<typeof temporaryFolder>
let file: string
beforeEach(async () => {
  emulator = await startEmulator({ people: 5, months: 2, pageSize: 2 })
  folder = temporaryFolder()
  file = join(folder.path, 'config.json')
})
afterEach(async () => {
  await emulator.close()
  folder.remove()
})

/** A pipe with one answer per line. */
function piped(lines: readonly string[]) {
  const stdin = new PassThrough()
  stdin.end(lines.map((line) => `${line}\n`).join(''))
  return stdin
}

/** A terminal with somebody who types an answer to each question. */
function typed(lines: readonly string[], stderr: Writable) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const left = [...lines]
  const write = stderr.write.bind(stderr)
  stderr.write = (text: string) => {
    if (/: $/.test(String(text))) setImmediate(() => stdin.write(`${left.shift() ?? ''}\n`))
    return write(text)
  }
  return stdin
}

async function protime(
  words: readonly string[],
  stdinOf: (stderr: Writable) => PassThrough = () => piped([]),
) {
  const [stdout, stderr] = [createCollector(), createCollector()]
  const stdin = stdinOf(stderr)
  const exitCode = await runProtime([...words, '--config', file], { stdin, stdout, stderr })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

function answers(secret = 'emulator-secret'): string[] {
  const { tenant, environment } = emulator.config() as {
    tenant: string
    environment: { base_url: string; api_name: string }
  }
  return [tenant, environment.base_url, '', environment.api_name, 'connector', secret]
}

describe('protime init', () => {
  it('writes a configuration that has been checked, for its owner alone', async () => {
    const { exitCode, stderr } = await protime(['init'], () => piped(answers()))
    expect([exitCode, statSync(file).mode & 0o777]).toEqual([0, 0o600])
    // No activity structures are asked for.
    const offered = streams.size - 1
    expect(stderr).toContain(`${offered} of ${offered} streams can be read.`)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ client_id: 'connector' })
    expect((await protime(['preview', 'jobs'])).exitCode).toBe(0)
  })

  it('accepts the address of the product for the tenant', async () => {
    const [tenant, ...rest] = answers()
    const address = `https://${tenant}.myprotime.eu/home`
    expect((await protime(['init'], () => piped([address, ...rest]))).exitCode).toBe(0)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ tenant })
  })

  it('does not show the secret, and asks again for what is missing', async () => {
    const [tenant = '', ...rest] = answers()
    const { exitCode, stderr } = await protime(['init'], (output) =>
      typed(['', tenant, ...rest], output),
    )
    expect(exitCode).toBe(0)
    expect(stderr.match(/Tenant/g)).toHaveLength(2)
    expect(stderr).not.toContain('emulator-secret')
  })

  it.each([
    ['a secret that the service refuses', () => answers('wrong'), 'invalid_client'],
    ['an environment that is none', () => ['acme', 'custom'], 'custom is not an environment'],
    ['answers that end early', () => answers().slice(0, 3), '\nprotime: The input ended'],
  ])('writes nothing for %s', async (_, given, words) => {
    const { exitCode, stderr } = await protime(['init'], () => piped(given()))
    expect(exitCode).toBe(2)
    expect(stderr).toContain(words)
    expect(() => statSync(file)).toThrow('ENOENT')
  })

  it('asks again after a bad answer, and offers the answers of before', async () => {
    const [tenant = '', ...rest] = answers('wrong')
    const again = ['', '', '', '', '', 'emulator-secret']
    const { exitCode, stderr } = await protime(['init'], (output) =>
      typed([tenant, 'custom', ...rest, ...again], output),
    )
    expect(exitCode).toBe(0)
    expect(stderr).toContain('WARN custom is not an environment')
    expect(stderr).toContain('Client id (connector): ')
    expect((await protime(['preview', 'jobs'])).exitCode).toBe(0)
  })

  it('does not change an existing file', async () => {
    writeFileSync(file, 'mine')
    expect((await protime(['init'], () => piped(answers()))).exitCode).toBe(2)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })
})

describe('protime check', () => {
  it('says which client it uses and what can be read, and starts no delta', async () => {
    writeFileSync(file, JSON.stringify(emulator.config()), { mode: 0o600 })
    const { exitCode, stdout } = await protime(['check'])
    expect([exitCode, stdout]).toEqual([
      0,
      `tenant demo, client connector\n${streams.size} of ${streams.size} streams can be read.\n`,
    ])
    expect(emulator.requests.filter(({ query }) => query.includes('delta'))).toEqual([])
  })

  it('fails, and says why, if nothing can be read', async () => {
    writeFileSync(file, JSON.stringify({ ...emulator.config(), client_secret: 'wrong-secret' }), {
      mode: 0o600,
    })
    const { exitCode, stdout } = await protime(['check'])
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringMatching(/\(invalid_client\)\. .* \[client-not-accepted\]\n$/),
    ])
    expect(stdout).not.toContain('wrong-secret')
  })
})

describe('a command that reads a warehouse', () => {
  const warehouse = () => join(folder.path, 'w.duckdb')
  const reading = (...words: string[]) => runHere(...words, '--warehouse', warehouse())
  const sync = () => protime(['sync', '--streams', 'people,jobs', '--warehouse', warehouse()])
  beforeEach(() =>
    writeFileSync(file, JSON.stringify({ ...emulator.config(), retry_minutes: 0 }), {
      mode: 0o600,
    }),
  )

  it('says how old each stream is, whole, and why one was not read, and fails like the last sync', async () => {
    emulator.fail('/jobs', 500)
    await sync()
    const { exitCode, stdout } = await reading('status')
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^tenant demo, .*\nlast sync: .* exit code 1\n/)
    expect(stdout).toMatch(/^ {2}people +5 +2\S+Z +0 h +changes$/m)
    expect(stdout).toMatch(/^ {2}jobs +0 +never +first read +service-fails: The service\b.{60}/m)
    emulator.clearFaults()
    await sync()
    expect((await reading('status')).exitCode).toBe(0)
  })

  it('fails after a --rewrite that failed, though the warehouse stays, until a sync succeeds', async () => {
    await sync()
    emulator.fail('/jobs', 500)
    const rewrite = () =>
      protime(['sync', '--rewrite', '--streams', 'people,jobs', '--warehouse', warehouse()])
    expect((await rewrite()).exitCode).toBe(1)
    const { exitCode, stdout } = await reading('status')
    expect(exitCode).toBe(1)
    expect(stdout).toContain(`exit code 1 (--rewrite, into ${warehouse()}.rewrite)\n`)
    expect(stdout).toMatch(/^ {2}jobs +\d+ +2\S+Z +0 h +changes +service-fails: The service\b/m)
    emulator.clearFaults()
    await sync()
    expect((await reading('status')).exitCode).toBe(0)
    expect((await rewrite()).exitCode).toBe(0)
    expect((await reading('status')).exitCode).toBe(0)
  })

  it('says the same as JSON', async () => {
    const { exitCode, stdout } = await sync()
    const { began, ended } = JSON.parse(stdout)
    expect([exitCode, began < ended]).toEqual([0, true])
    const { stdout: told } = await reading('status', '--json')
    expect(JSON.parse(told)).toEqual({
      tenant: 'demo',
      environment: expect.any(String),
      sync: { began: expect.any(String), ended: expect.any(String), exit: 0 },
      streams: ['jobs', 'people'].map((stream) => ({
        stream,
        rows: expect.any(Number),
        lastComplete: expect.stringMatching(/^\d{4}-.*Z$/),
        nextSync: expect.any(String),
      })),
    })
  })

  it('prints the result of a query, and cannot change anything', async () => {
    await sync()
    const sql =
      "SELECT 9007199254740993 AS id, 'a' AS name, NULL AS x, [1] AS list, '{\"b\":1.50}'::JSON AS j"
    expect((await reading('query', sql, '--json')).stdout).toBe(
      '{"id":9007199254740993,"name":"a","x":null,"list":[1],"j":{"b":1.50}}\n',
    )
    expect((await reading('query', 'SELECT count(*) AS people FROM flat.people')).stdout).toBe(
      '  people\n  5\n',
    )
    for (const bad of [
      'DELETE FROM people',
      `COPY people TO '${folder.path}/x.csv'`,
      'SELECT nothing',
    ])
      expect(await reading('query', bad)).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringContaining('protime: The query failed.'),
      })
    expect(readdirSync(folder.path).sort()).toEqual(['config.json', 'w.duckdb'])
  })

  it.each([['status'], ['verify'], ['query', 'SELECT 1']])(
    'ends with 2 if there is none, and says how one is made: %s',
    async (...words) => {
      const { exitCode, stderr } = await protime([...words, '--warehouse', warehouse()])
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining(
          `The warehouse ${warehouse()} cannot be opened: there is no such file. Name another one with --warehouse, or create it with protime sync.`,
        ),
      ])
    },
  )

  it('is refused for a file that is not a warehouse', async () => {
    await withDuckDb(warehouse(), (connection) => connection.run('CREATE TABLE t (a INTEGER)'))
    const { exitCode, stderr } = await reading('status')
    expect([exitCode, stderr]).toEqual([
      2,
      `protime: ${warehouse()} is not a warehouse of protime sync. Name one with --warehouse. [not-a-warehouse]\n`,
    ])
  })
})

describe('protime preview', () => {
  beforeEach(() => writeFileSync(file, JSON.stringify(emulator.config()), { mode: 0o600 }))

  it('shows the first records of every stream from lists, and starts no delta', async () => {
    const { exitCode, stdout, stderr } = await protime(['preview', '--limit', '3'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout.match(/^\w+: (the first )?\d+/gm)).toHaveLength(streams.size)
    expect(stdout).toMatch(/^people: the first 2 records\n {2}id {2}changeVersion/m)
    expect(stdout).toMatch(/^clockings: the first \d+ records from 2026-10-\d\d to 2026-11-20$/m)
    expect(emulator.requests.filter(({ path, query }) => /delta/.test(`${path}?${query}`))).toEqual(
      [],
    )
  })

  it('prints JSON lines, exactly as the service has them', async () => {
    const { stdout } = await protime(['preview', 'jobs', '--json', '--limit', '1'])
    expect(parseLines(stdout)).toEqual([{ stream: 'jobs', record: emulator.all('jobs')[0] }])
  })

  it('leaves out what personal_data leaves out', async () => {
    writeFileSync(file, JSON.stringify({ ...emulator.config(), personal_data: 'minimal' }), {
      mode: 0o600,
    })
    const { stdout } = await protime(['preview', 'people', '--json'])
    expect(stdout).not.toContain('lastName')
  })

  it('says what the client may not read, and fails if that is everything', async () => {
    emulator.fail('/jobs', 403)
    const one = await protime(['preview', 'jobs'])
    expect([one.exitCode, one.stdout]).toEqual([2, ''])
    expect(one.stderr).toContain('WARN jobs: The client has no access')
    expect((await protime(['preview', 'jobs', 'people'])).exitCode).toBe(0)
  })

  it('warns of a configuration that every user of the machine can read', async () => {
    chmodSync(file, 0o644)
    const warning = `WARN Every user of this machine can read ${file}.`
    expect((await protime(['preview', 'people'])).stderr).toContain(warning)
    chmodSync(file, 0o600)
    expect((await protime(['preview', 'people'])).stderr).not.toContain('WARN')
  })

  it('knows which stream was meant', async () => {
    const { exitCode, stderr } = await protime(['preview', 'peple'])
    expect([exitCode, stderr]).toEqual([
      2,
      'protime: there is no stream peple; did you mean people? Try --help. [command-line-not-valid]\n',
    ])
  })
})

describe('protime dbt init', () => {
  beforeEach(() => writeFileSync(path('acme.duckdb'), ''))

  const path = (name: string) => join(folder.path, name)
  const init = (given = path('acme.duckdb')) =>
    runHere('dbt', 'init', '--warehouse', given, '--project', path('models'))

  it('writes a project that attaches the warehouse, with the package of this version', async () => {
    const { exitCode, stderr } = await init()
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Next: dbt build')])
    const { protime: profile } = parse(readFileSync(path('models/profiles.yml'), 'utf8'))
    expect(profile.outputs.warehouse.attach).toEqual([
      { path: '../acme.duckdb', alias: 'raw', read_only: true },
    ])
    const { packages } = parse(readFileSync(path('models/packages.yml'), 'utf8'))
    const own = realpathSync(path(`models/${packages[0].local}`))
    expect(realpathSync(path('models/dbt_packages/protime'))).toBe(own)
    for (const name of ['dbt_project.yml', 'models/marts/protime__person_days.sql'])
      expect(readFileSync(join(own, name))).toEqual(readFileSync(join('dbt', name)))
  })

  it('puts the models into a folder that only its owner can enter', async () => {
    await init()
    const { protime: profile } = parse(readFileSync(path('models/profiles.yml'), 'utf8'))
    const place = dirname(join(path('models'), profile.outputs.warehouse.path))
    expect(statSync(place).mode & 0o777).toBe(0o700)
  })

  it('leaves the counters of overtime to the tenant, in a comment, and says whose day is today', async () => {
    await init()
    const project = readFileSync(path('models/dbt_project.yml'), 'utf8')
    expect(parse(project).vars).toEqual({
      protime_database: 'raw',
      protime_schema: 'main',
      protime_time_zone: 'Europe/Brussels',
    })
    const chosen = parse(
      project.replace('# protime_overtime_counters', 'protime_overtime_counters'),
    )
    expect(chosen.vars.protime_overtime_counters).toEqual(['Overtime'])
  })

  it('names the schema as a text, whatever YAML makes of its name', async () => {
    await init('postgres://loader@127.0.0.1/hr?schema=null')
    const { vars } = parse(readFileSync(path('models/dbt_project.yml'), 'utf8'))
    expect([vars.protime_database, vars.protime_schema]).toEqual(['hr', 'null'])
  })

  it('changes no file of an existing project', async () => {
    await init()
    writeFileSync(path('models/profiles.yml'), 'mine')
    const { exitCode, stderr } = await init()
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('exists already')])
    expect(readFileSync(path('models/profiles.yml'), 'utf8')).toBe('mine')
  })

  it('says which command creates the warehouse if there is none', async () => {
    const { exitCode, stderr } = await init(path('none.duckdb'))
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('create it with protime sync')])
    expect(readdirSync(folder.path)).toEqual(['acme.duckdb'])
  })

  it.each(['/proc/models', 'acme.duckdb/models'])(
    'says that it cannot make the project %s',
    async (name) => {
      const words = ['--warehouse', path('acme.duckdb'), '--project', resolve(folder.path, name)]
      const { exitCode, stderr } = await runHere('dbt', 'init', ...words)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${name} cannot be made (E`)])
    },
  )

  it('refuses a folder instead of the warehouse', async () => {
    const { exitCode, stderr } = await init(folder.path)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is a folder')])
  })
})
