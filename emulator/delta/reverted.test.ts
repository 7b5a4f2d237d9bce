import { afterEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect } from '../test-client.ts'

let emulator: Emulator
afterEach(() => emulator.close())

describe('a delta whose collection has an earlier content again', () => {
  const contentOf = () => emulator.exact('jobs')

  it('reports nothing of it, and only what changes later', async () => {
    emulator = await startEmulator({ people: 3, months: 0 })
    const client = await connect(emulator)
    const { deltaLink } = await client.walk('/jobs?delta')
    const before = contentOf()
    emulator.update('jobs', 1)
    emulator.remove('jobs', 2)
    emulator.insert('jobs')
    emulator.revert('jobs', 3)
    expect(contentOf()).toEqual(before)
    const silent = await client.get(deltaLink ?? '')
    const { id } = emulator.update('jobs', 3)
    const { items } = await client.walk(silent.body.deltaLink)
    expect([silent.body.value, items.map(({ data }) => data.id)]).toEqual([[], [id]])
  })

  it('has reported what is undone before, and new changes have higher versions', async () => {
    emulator = await startEmulator({ people: 3, months: 0 })
    const client = await connect(emulator)
    const { deltaLink } = await client.walk('/jobs?delta')
    const { changeVersion } = emulator.update('jobs', 1)
    const told = await client.get(deltaLink ?? '')
    emulator.revert('jobs', 1)
    const silent = await client.get(told.body.deltaLink)
    const later = emulator.update('jobs', 1)
    expect([told.body.value.length, silent.body.value]).toEqual([1, []])
    expect(String(later['changeVersion']) > String(changeVersion)).toBe(true)
  })

  it('shows a list that is paged from a snapshot as it was before', async () => {
    emulator = await startEmulator({ people: 3, months: 0, pageSize: 2, paging: 'snapshot' })
    const client = await connect(emulator)
    const { changeVersion } = emulator.update('jobs', 3)
    const { body } = await client.get('/jobs')
    emulator.revert('jobs', 1)
    const { items } = await client.walk(body.nextLink)
    expect(items[0]?.changeVersion).toBe(changeVersion)
    expect(emulator.all('jobs')[2]?.['changeVersion']).not.toBe(changeVersion)
  })
})
