import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect, type TestClient } from '../test-client.ts'

let emulator: Emulator
let client: TestClient
beforeEach(async () => {
  emulator = await startEmulator({ people: 4, months: 1 })
  client = await connect(emulator)
})
afterEach(() => emulator.close())

const listed = async (path: string) => (await client.get(path)).body.value

it('leaves hidden people and what belongs to them out of lists, deltas and references', async () => {
  const { deltaLink } = (await client.get('/contracts?delta')).body
  emulator.setReference('people', 'hr', 'A2', 2)
  emulator.hide((person) => person === 2)
  for (const { id, person } of emulator.all('contracts') as {
    id: number
    person: { id: number }
  }[])
    if (person.id <= 2) emulator.update('contracts', id)
  const [people, contracts, changes, references] = [
    await listed('/people'),
    await listed('/contracts'),
    (await client.get(deltaLink)).body.value,
    await listed('/external-references/people'),
  ]
  expect(people?.map(({ id }) => id)).toEqual([1, 3, 4])
  expect(new Set(contracts?.map(({ person }) => person.id))).toEqual(new Set([1, 3, 4]))
  expect(new Set(changes?.map(({ data }) => data.person.id))).toEqual(new Set([1]))
  expect(references?.map(({ internalReference }) => internalReference)).not.toContain('2')
  emulator.hide(() => false)
  expect(await listed('/people')).toHaveLength(4)
  const shown = await listed('/external-references/people')
  expect(shown?.map(({ internalReference }) => internalReference)).toContain('2')
})

it('has no single record of them', async () => {
  emulator.hide((person) => person === 2)
  const answers = [await client.get('/people/2'), await client.get('/people/3')]
  expect(answers.map(({ status }) => status)).toEqual([404, 200])
})
