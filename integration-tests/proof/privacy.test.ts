import { createHmac, scryptSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { streams } from '../../src/streams/streams.ts'
import { configOf } from '../hostile/scenario.ts'
import {
  BIRTH_DATE,
  expected,
  isOffered,
  type Mark,
  startMarkedService,
} from '../testing/marked-service.ts'
import { run } from '../testing/run.ts'

const KEY = 'Wq3-xkT9_mB7vZ2p'
type ProgramName = 'source-protime' | 'tap-protime'

const outputs = new Map<string, Promise<string>>()

/** All that a program says in a mode; it is run once. */
function said(program: ProgramName, mode: string, refused?: string): Promise<string> {
  const name = [program, mode, refused].join(' ')
  const output = outputs.get(name) ?? outputOf(program, mode, refused)
  outputs.set(name, output)
  return output
}

async function outputOf(program: ProgramName, mode: string, refused?: string): Promise<string> {
  const { origin } = await startMarkedService({ refused })
  const config = {
    ...configOf(origin),
    activity_structures: [{ structure_version_id: 'a', level: 1 }],
    personal_data: mode,
    privacy_key: KEY,
  }
  const all = [...streams.keys()].filter((name) => isOffered(name, mode))
  // What is said of a refusal is the same whatever else is read.
  const catalog = refused === undefined ? all : [refused, 'jobs']
  const { stdout, stderr, exitCode } =
    program === 'source-protime'
      ? await run({ program, command: 'read', in: 'process', config, catalog })
      : await run({ program, in: 'process', config: { ...config, streams: catalog } })
  expect(exitCode === 0, stderr).toBe(refused === undefined)
  return stdout + stderr
}

const MODES = [
  ['complete', []],
  ['without_secrets', ['secret']],
  ['pseudonymised', ['identifying', 'secret']],
  ['minimal', ['identifying', 'sensitive', 'secret']],
] as const

const SALT = JSON.stringify(['source-protime', 'demo'])
const stretched = scryptSync(KEY, SALT, 32, { N: 32_768, r: 8, p: 1, maxmem: 2 ** 26 })

function hashOf({ text, meaning }: Mark): string {
  const key = createHmac('sha256', stretched)
    .update(JSON.stringify(['values', meaning]))
    .digest()
  return createHmac('sha256', key).update(text).digest('hex')
}

describe.each(['source-protime', 'tap-protime'] as const)('%s', (program) => {
  it.each(MODES)('prints nothing that personal_data leaves out: %s', async (mode, leftOut) => {
    const output = await said(program, mode)
    const isLeftOut = ({ privacyClass }: Mark) => leftOut.some((one) => one === privacyClass)
    const isShown = ({ text }: Mark) => output.includes(text)
    expect(expected.filter((mark) => isLeftOut(mark) && isShown(mark))).toEqual([])
    const offered = expected.filter(({ stream }) => isOffered(stream, mode))
    expect(offered.filter((mark) => !isLeftOut(mark) && !isShown(mark))).toEqual([])
  })

  it.each([
    ['complete', 'They are passed on: people.kin, people.shoeSize.'],
    ['minimal', 'They are left out: people.kin, people.shoeSize.'],
  ])('names the fields that no schema knows in one line: %s', async (mode, fate) => {
    const lines = (await said(program, mode)).split('\n')
    const told = lines.filter((line) => line.includes('fields that the schemas do not know'))
    expect(told).toEqual([
      expect.stringContaining(`they may be personal data. ${fate} The settings`),
    ])
  })

  it.each(MODES)("shows the service's texts only if names of people are kept: %s", async (mode) => {
    const output = await said(program, mode, 'departments')
    expect(output).toContain('(400 for ')
    expect(output).toContain('BadRequest')
    expect(output.includes('Jan Peeters')).toBe(mode === 'complete' || mode === 'without_secrets')
  })

  it('finds a secret in a field that is in no schema', async () => {
    expect(await said(program, 'without_secrets')).not.toContain('BE71-unknown')
    expect(await said(program, 'complete')).toContain('BE71-unknown')
  })

  it('replaces identifying fields by a hash of key, tenant and meaning, and dates by their year', async () => {
    const output = await said(program, 'pseudonymised')
    const hashed = expected.filter(
      ({ text, privacyClass }) => privacyClass === 'identifying' && text !== BIRTH_DATE,
    )
    expect(hashed.filter((mark) => !output.includes(`"${hashOf(mark)}"`))).toEqual([])
    expect(output.includes('"birthDate":"1971-01-01"')).toBe(true)
  })
})
