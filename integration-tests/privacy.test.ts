import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { reply, startHttpService } from '../src/http/testing/http-service.ts'
import { type PrivacyClass, privacyClassOf } from '../src/privacy/privacy-settings.ts'
import type { JsonSchema } from '../src/records/stream-spec.ts'
import { readStreamSchema, streams } from '../src/streams/streams.ts'
import { configOf } from './hostile/scenario.ts'
import { run } from './testing/run.ts'

const KEY = 'a-key-of-sixteen-characters'
/** What the service sends of people and no schema knows. */
const UNKNOWN = { shoeSize: 44, kin: { IBAN: 'BE71-unknown', name: 'x' } }
const BIRTH_DATE = '1971-05-17'

/** A value that occurs nowhere else, with what its field tells of a person. */
interface Mark {
  readonly stream: string
  readonly path: string
  readonly text: string
  readonly privacyClass: PrivacyClass
  /** What its value means: a hash is of that meaning. */
  readonly meaning: string
}

const marks: Mark[] = []
/** A record of each collection, with a mark in each field that takes a text or a number. */
const records = new Map([...streams].map(([name, { collection }]) => [collection, marked(name)]))

function marked(stream: string): object {
  const schema = readStreamSchema(stream)
  const [example] = schema['examples'] as object[]
  const { dateField, softDelete } = streams.get(stream) ?? {}
  const plain = ['id', 'changeVersion', 'collection', dateField, softDelete?.field]
  return { ...example, ...members(schema, '', plain) }

  function members(node: JsonSchema, at: string, left: readonly unknown[] = []): object {
    const fields = Object.entries(node.properties ?? {}).filter(([name]) => !left.includes(name))
    return Object.fromEntries(fields.map(([name, field]) => [name, fill(field, `${at}${name}`)]))
  }

  function fill(field: JsonSchema, path: string): unknown {
    const types = [field['type']].flat()
    if (field.items !== undefined) return [fill(field.items, path)]
    if (types.includes('object') && field.properties === undefined)
      return { any: text(field, path) }
    if (types.includes('object')) return members(field, `${path}.`)
    if (types.includes('boolean') || (field['format'] === 'date' && path !== 'birthDate'))
      return null
    if (path === 'birthDate') return mark(field, path, BIRTH_DATE)
    return types.includes('string') ? text(field, path) : Number(mark(field, path, unused()))
  }

  function text(field: JsonSchema, path: string): string {
    return mark(field, path, `marked-${unused()}`)
  }

  function mark(field: JsonSchema, path: string, said: string): string {
    const word = (field['x-meaning'] ?? `${stream}.${path}`) as string
    const isMap = [field['type']].flat().includes('object')
    const meaning = isMap ? `${word} any` : word.replace('{collection} {name}', 'people hr')
    marks.push({ stream, path, text: said, privacyClass: privacyClassOf(field), meaning })
    return said
  }
}

function unused(): string {
  return String(77_000_000 + marks.length)
}

/** What the service says of a request that it refuses. */
const WORDS = 'Jan Peeters, born on 1980-01-01, has no department'

/** A service that answers with its one record of a collection to lists and deltas, and refuses one collection. */
function startService(refused: string | undefined) {
  return startHttpService(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://service')
    const last = pathname.split('/').at(-1) ?? ''
    if (last === refused) {
      reply(response, 400, { error: { code: 'BadRequest', message: WORDS } })
      return
    }
    if (last === 'token') {
      reply(response, 200, { access_token: 'token', expires_in: 1800, token_type: 'Bearer' })
      return
    }
    const isReferences = pathname.includes('/external-references/')
    const record = isReferences
      ? { referenceName: 'hr', externalReference: referenceValue, internalReference: '7' }
      : { ...records.get(last), ...(last === 'people' && UNKNOWN) }
    const isDelta = searchParams.has('delta') || searchParams.has('deltaToken')
    reply(response, 200, {
      value: isReferences && last !== 'people' ? [] : [record],
      ...(isDelta && { deltaLink: `${pathname}?deltaToken=x1` }),
    })
  })
}

/** A stream whose key is left out is not offered. */
function isOffered(stream: string, mode: string): boolean {
  return mode !== 'minimal' || stream !== 'external_references'
}

const ofReferences = marks.filter(({ stream }) => stream === 'external_references')
const referenceValue = ofReferences.find(({ path }) => path === 'value')?.text
/** The name and the id of the reference are those of the service above. */
const expected = marks.filter((mark) => !ofReferences.includes(mark) || mark.path === 'value')

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
  const { origin } = await startService(refused)
  const config = {
    ...configOf(origin),
    activity_structures: [{ structure_version_id: 'a', level: 1 }],
    personal_data: mode,
    privacy_key: KEY,
  }
  const catalog = [...streams.keys()].filter((name) => isOffered(name, mode))
  const { stdout, stderr, exitCode } =
    program === 'source-protime'
      ? await run({ program, command: 'read', in: 'process', config, catalog })
      : await run({ program, in: 'process', config })
  expect(exitCode === 0, stderr).toBe(refused === undefined)
  return stdout + stderr
}

const MODES = [
  ['complete', []],
  ['without_secrets', ['secret']],
  ['pseudonymised', ['identifying', 'secret']],
  ['minimal', ['identifying', 'sensitive', 'secret']],
] as const

function hashOf({ text, meaning }: Mark): string {
  const key = createHmac('sha256', KEY)
    .update(JSON.stringify(['demo', meaning]))
    .digest()
  return createHmac('sha256', key).update(text).digest('hex')
}

describe.each(['source-protime', 'tap-protime'] as const)('%s', (program) => {
  it.each(MODES)('says nothing of what personal_data leaves out: %s', async (mode, leftOut) => {
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
    expect(told).toEqual([expect.stringContaining(`each may be personal. ${fate} The settings`)])
  })

  it.each(MODES)("shows the service's words only where people are named: %s", async (mode) => {
    const output = await said(program, mode, 'departments')
    expect(output).toContain('(400 for ')
    expect(output).toContain('BadRequest')
    expect(output.includes('Jan Peeters')).toBe(mode === 'complete' || mode === 'without_secrets')
  })

  it('finds a secret in a field that no schema knows', async () => {
    expect(await said(program, 'without_secrets')).not.toContain('BE71-unknown')
    expect(await said(program, 'complete')).toContain('BE71-unknown')
  })

  it('replaces what identifies a person by a hash under key, tenant and meaning, dates by their year', async () => {
    const output = await said(program, 'pseudonymised')
    const hashed = expected.filter(
      ({ text, privacyClass }) => privacyClass === 'identifying' && text !== BIRTH_DATE,
    )
    expect(hashed.filter((mark) => !output.includes(`"${hashOf(mark)}"`))).toEqual([])
    expect(output.includes('"birthDate":"1971-01-01"')).toBe(true)
  })
})
