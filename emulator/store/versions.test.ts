import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect } from '../test-client.ts'
import { Blocks, openBytes, Texts } from './versions.ts'

const added = Array.from({ length: 700 }, (_, i) => JSON.stringify({ id: i, name: `“${i}”,\n` }))

it.each([
  ['kept as they are', openBytes],
  ['compressed', 0],
])('returns texts as they were added when blocks are %s', (_, largest) => {
  const texts = new Texts(new Blocks(largest))
  for (const text of added) texts.push(text)
  const chosen = [699, 0, 1, 2, 254, 255, 256, 257, 300, 511, 512, 600, 601]
  expect(added.map((_text, i) => texts.at(i))).toEqual(added)
  for (const indexes of [[...added.keys()], chosen, []]) {
    const bytes = Buffer.concat(texts.parts(indexes))
    expect(bytes.toString()).toBe(indexes.map((i) => added[i]).join(','))
  }
})

let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator({ people: 1, months: 0 })
})
afterEach(() => emulator.close())

/** A list as it is written. */
async function textAt(path: string): Promise<string> {
  const { token } = await connect(emulator)
  const url = `${emulator.url}/connector/protimeapi/api/v1${path}`
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Tests/1 (Acme)' }
  return (await fetch(url, { headers })).text()
}

const odd = {
  rowid: 1,
  select: 'x"; drop table people --',
  '': 'no name',
  'a\nb"c': null,
  nul: '\u0000',
  surrogate: '\ud800',
  escaped: '\\ud800',
  inServiceDate: '2026-02-30',
  large: { $digits: '9007199254740993' },
  inside: [{ longer: { $digits: '-0.1000000000000000055511151231257827' } }],
  beyond: { $digits: '1e400' },
  quoted: '{"$digits":"1"}',
}

const written = [
  '"rowid":1',
  String.raw`"select":"x\"; drop table people --"`,
  '"":"no name"',
  String.raw`"a\nb\"c":null`,
  String.raw`"nul":"\u0000"`,
  String.raw`"surrogate":"\ud800"`,
  String.raw`"escaped":"\\ud800"`,
  '"inServiceDate":"2026-02-30"',
  '"large":9007199254740993',
  '"inside":[{"longer":-0.1000000000000000055511151231257827}]',
  '"beyond":1e400',
  String.raw`"quoted":"{\"$digits\":\"1\"}"`,
]

it.each(['/people', '/people?externalReferences=(people,@badge-number)'])(
  'a record has properties of any name and value, and all their digits, at %s',
  async (path) => {
    emulator.insert('people', odd)
    const text = await textAt(path)
    expect(written.filter((part) => !text.includes(part))).toEqual([])
  },
)

it('keeps them when the record changes', async () => {
  const { id } = emulator.insert('people', odd)
  emulator.update('people', Number(id), { lastName: 'Maes' })
  emulator.update('people', Number(id))
  const text = await textAt('/people')
  expect([...written, '"lastName":"Maes"'].filter((part) => !text.includes(part))).toEqual([])
})

it('the decimals of a position stay when the record changes', async () => {
  const geolocation = { longitude: 4.351712345, latitude: 50.5 }
  const { id } = emulator.insert('clockings', { date: '2026-10-05', geolocation })
  const path = "/clockings?filter=date ge '2026-10-05' and date le '2026-10-05'"
  const positionOf = (text: string) => /"geolocation":\{.*?\}/.exec(text)?.[0]
  const before = positionOf(await textAt(path))
  emulator.update('clockings', Number(id))
  expect([before, positionOf(await textAt(path))]).toEqual([
    '"geolocation":{"longitude":4.351712345000000123456,"latitude":50.500000000000000123456}',
    before,
  ])
})
