import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { runProtime } from '../../src/cli/main.ts'
import { executableOf } from '../testing/child.ts'
import { temporaryFolder } from '../testing/files.ts'
import { createCollector } from '../testing/output.ts'
import { parseLines } from '../testing/run.ts'
import { QUICK } from '../writes/tenant.ts'

const SECRET = 'secret-of-the-writer'

let emulator: Emulator
let folder: ReturnType<typeof temporaryFolder>
let configFile: string
beforeEach(async () => {
  emulator = await startEmulator({
    people: 5,
    months: 1,
    pageSize: 2,
    clients: [
      { id: 'writer', secret: SECRET, scopes: 'all' },
      { id: 'reader', secret: SECRET },
    ],
  })
  folder = temporaryFolder()
  configFile = configOf('writer')
})
afterEach(async () => {
  await emulator.close()
  folder.remove()
})

function configOf(client_id: string, more = {}): string {
  const file = join(folder.path, `${client_id}.json`)
  const config = { ...emulator.config(), client_id, client_secret: SECRET, ...more }
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  return file
}

/** Runs a command in this process, which is much quicker. */
async function protime(...words: readonly string[]) {
  const [stdout, stderr] = [createCollector(), createCollector()]
  const io = { stdout, stderr, time: QUICK }
  const exitCode = await runProtime([...words, '--config', configFile], io)
  return {
    exitCode,
    lines: parseLines<Record<string, unknown>>(stdout.text()),
    stderr: stderr.text(),
  }
}

function writes(): string[] {
  return emulator.requests.map(({ method }) => method).filter((method) => method !== 'GET')
}

function idOf(collection: string, index: number): string {
  return String(emulator.all(collection)[index]?.['id'])
}

it.each([
  ['preview', 'jobs'],
  ['references', 'list', 'people'],
  ['job-categories', 'list'],
  ['webhooks', 'list'],
])('%s ends with 2 for a wrong secret, as a sync does', async (...words) => {
  configFile = configOf('writer', { client_secret: 'wrong' })
  const { exitCode, stderr } = await protime(...words)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('[client-not-accepted]')])
})

describe('protime references', () => {
  it.each(['E-12', 'a/b?#%41 é+', '..', '.', 'x y'])(
    'puts, gets, lists and deletes the value %j',
    async (value) => {
      const internalReference = idOf('people', 0)
      const reference = { collection: 'people', name: 'hr-number', value, internalReference }
      const address = ['people', 'hr-number', value]
      const put = () => protime('references', 'put', ...address, internalReference)
      for (const answer of [
        await put(),
        await put(),
        await protime('references', 'get', ...address),
        await protime('references', 'list', 'people', 'hr-number'),
      ])
        expect(answer).toMatchObject({ exitCode: 0, lines: [reference], stderr: '' })
      expect((await protime('references', 'list', 'people')).lines).toContainEqual(reference)
      const ends = [
        await protime('references', 'delete', ...address),
        await protime('references', 'get', ...address),
        await protime('references', 'delete', ...address),
      ]
      expect(ends.map(({ exitCode, lines }) => [exitCode, lines])).toEqual([
        [0, []],
        [4, []],
        [4, []],
      ])
    },
  )

  // spec: External reference management: answers
  it.each(['page', 'array', 'map'] as const)('lists a %s', async (form) => {
    emulator.options.referenceList = form
    const references = [0, 1, 2].map((index) => ({
      collection: 'people',
      name: 'hr-number',
      value: `E-${index}`,
      internalReference: idOf('people', index),
    }))
    for (const { value, internalReference } of references)
      await protime('references', 'put', 'people', 'hr-number', value, internalReference)
    const { lines } = await protime('references', 'list', 'people', 'hr-number')
    expect(lines).toEqual(references)
  })

  it.each([
    ['without_secrets', [{ name: 'hr-number', value: 'E-SECRET-12' }]],
    ['minimal', [{ name: 'hr-number' }]],
    ['pseudonymised', [{ name: 'hr-number', value: expect.stringMatching(/^[0-9a-f]{64}$/) }]],
  ])('lists values as %s says, and all of them if that is asked for', async (mode, expected) => {
    const internalReference = idOf('people', 0)
    const values = { 'hr-number': 'E-SECRET-12', 'pin-code': '4711' }
    for (const [name, value] of Object.entries(values))
      await protime('references', 'put', 'people', name, value, internalReference)
    configFile = configOf('writer', { personal_data: mode, privacy_key: 'Wq3-xkT9_mB7vZ2p' })
    const shown = await protime('references', 'list', 'people')
    const own = { collection: 'people', internalReference }
    const wanted = expected.map((reference) => ({ ...own, ...reference }))
    const ofTest = (lines: readonly unknown[]) =>
      lines.filter((line) => Object.keys(values).includes((line as { name: string }).name))
    expect(ofTest(shown.lines)).toEqual(wanted)
    const all = await protime('references', 'list', 'people', '--show-values')
    expect(ofTest(all.lines)).toEqual(
      Object.entries(values).map(([name, value]) => ({ ...own, name, value })),
    )
  })

  it('says why the service refuses, without the value', async () => {
    const address = ['people', 'hr-number', 'E-SECRET-12']
    await protime('references', 'put', ...address, idOf('people', 0))
    const { exitCode, stderr } = await protime('references', 'put', ...address, idOf('people', 1))
    const why = /^protime: The value is linked to another internalReference.* \(400 for /
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(why)])
    expect(stderr).not.toContain('E-SECRET-12')
  })

  it('is repeated if the connection breaks after the work was done', async () => {
    const address = ['people', 'hr-number', 'E-12']
    await protime('references', 'put', ...address, idOf('people', 0))
    emulator.fault('/external-references', 'after-last-byte', { times: 1, method: 'DELETE' })
    const { exitCode, stderr } = await protime('references', 'delete', ...address)
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/WARN .*tried again/)])
    expect(writes().filter((method) => method === 'DELETE')).toHaveLength(2)
  })

  it('names the scope that is missing', async () => {
    configFile = configOf('reader')
    const { exitCode, stderr } = await protime('references', 'put', 'people', 'hr-number', 'E', '1')
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/lacks connector-\w+-external-references\.write\b/),
    ])
    expect(writes()).not.toContain('PUT')
  })
})

describe('protime job-categories', () => {
  it('changes the given fields and keeps the rest', async () => {
    const id = idOf('job-categories', 0)
    const before = (await protime('job-categories', 'get', id)).lines[0]
    await protime('references', 'put', 'job-categories', 'hr-code', 'B/1', id)
    const words = ['--reference', 'hr-code', '--external-code', 'B2', '--translation', 'nl=Bakkers']
    const { exitCode, stderr } = await protime('job-categories', 'put', 'B/1', ...words)
    expect([exitCode, stderr]).toEqual([0, ''])
    const name = before?.['name'] as { default: string; translations?: object }
    const after = (await protime('job-categories', 'get', 'B/1', '--reference', 'hr-code')).lines
    expect(after).toEqual([
      {
        ...before,
        name: { ...name, translations: { ...name.translations, nl: 'Bakkers' } },
        externalCode: 'B2',
        changeVersion: expect.anything(),
      },
    ])
  })

  it.each([
    [2, 'a text is given for an id', ['BAKER']],
    [2, 'nothing is to change', ['1']],
    [4, 'there is none', ['999999', '--name', 'x']],
  ])('ends with %i when %s', async (exitCode, _, words) => {
    expect((await protime('job-categories', 'put', ...words)).exitCode).toBe(exitCode)
    expect(writes()).not.toContain('PUT')
  })
})

it('protime work-locations lists all of them', async () => {
  const { lines } = await protime('work-locations', 'list')
  const ids = emulator.all('work-locations').map(({ id }) => String(id))
  expect(lines.map(({ id }) => id)).toEqual(ids)
})

describe('the program', () => {
  const execute = (command: string) =>
    new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve) => {
      const environment = { ...process.env, PROTIME: executableOf('protime'), CONFIG: configFile }
      const child = execFile('sh', ['-c', command], { env: environment }, (_, stdout, stderr) =>
        resolve({ exitCode: child.exitCode, stdout, stderr }),
      )
    })

  /** Runs a command line in this process, without a configuration that it does not name. */
  const runWords = async (words: string) => {
    const [stdout, stderr] = [createCollector(), createCollector()]
    const argv = words.split(' ').filter((word) => word !== '')
    const exitCode = await runProtime(argv, { stdout, stderr, env: {} })
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  }

  it.each([
    (config: string) => `--config ${config} work-locations list`,
    (config: string) => `work-locations --config ${config} list`,
  ])('takes --config before and behind the arguments', async (words) => {
    const { stdout } = await runWords(words(configFile))
    expect(parseLines(stdout)).toHaveLength(emulator.all('work-locations').length)
  })

  it('ends silently if the reader stops', async () => {
    const { stderr } = await execute('"$PROTIME" work-locations list --config "$CONFIG" | true')
    expect(stderr).toBe('')
  })

  it.each([
    ['', /^Usage: protime/],
    ['references', /^Usage: protime references/],
    [
      'reference list people',
      /^protime: unknown command 'reference' \(Did you mean references\?\)/,
    ],
    [
      'references list people',
      /^protime: there is no config\.json here: create it with protime init, or name another file with --config\. Try --help\. \[command-line-not-valid\]\n$/,
    ],
    ['references list --config x', /^protime: missing required argument 'collection'/],
    ['job-categories put 1 --translation nl --config x', /must have the form NAME=VALUE/],
  ])('says how it is used, with 2, when it is called as %j', async (words, message) => {
    const { exitCode, stdout, stderr } = await runWords(words)
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)])
  })

  it.each([
    ['is not there', undefined, /cannot be read/],
    ['is not valid', '{}', /tenant is missing/],
  ])('fails with 2 when the configuration %s', async (_, content, message) => {
    const file = join(folder.path, 'other.json')
    if (content !== undefined) writeFileSync(file, content)
    const { exitCode, stderr } = await runWords(`work-locations list --config ${file}`)
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)])
  })
})
