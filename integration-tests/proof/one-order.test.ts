import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { type Scenario, startScenario, withState } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

async function start(streams: readonly string[], options?: EmulatorOptions): Promise<Scenario> {
  scenario = await startScenario(streams, options)
  return scenario
}

type Row = Readonly<Record<string, unknown>>

const cursorOf = (row: Row | undefined) => Number(row?.['_ab_cdc_cursor'])
const cursors = (rows: readonly Row[]) => rows.map(cursorOf)

describe('a row that was deleted by comparison and comes back unchanged', () => {
  it('exists if its structure was removed from the settings for one sync', async () => {
    const { emulator, settings, sync } = await start(['activity_definitions'])
    const [first, ...others] = emulator.activityStructures
    await sync()
    settings['activity_structures'] = [first]
    const { deleted } = await sync()
    expect(deleted.length).toBeGreaterThan(0)
    settings['activity_structures'] = [first, ...others]
    await sync()
    expect(scenario.differences()).toEqual([])
  })

  it('exists if it was before the start date for a while', async () => {
    const { emulator, settings, sync } = await start(['clockings'], {
      people: 0,
      leavingRow: 'nothing',
    })
    settings['start_date'] = '2026-06-01'
    for (const date of ['2026-07-01', '2026-07-02']) emulator.insert('clockings', { date })
    await sync()
    emulator.update('clockings', 1, { date: '2026-02-01' })
    emulator.advance({ hours: 73 })
    expect((await sync()).deleted).toEqual([1])
    settings['start_date'] = '2026-01-01'
    await sync()
    expect(scenario.differences()).toEqual([])
  })
})

describe('the cursor of records', () => {
  it('begins with the time of the service, and increases from sync to sync whatever its clock says', async () => {
    const { emulator, sync } = await start(['people'])
    const first = await sync()
    expect(Math.min(...cursors(first.records))).toBeGreaterThanOrEqual(
      Math.floor(emulator.now().getTime() / 1000) * 1_000_000,
    )
    emulator.advance({ hours: -2 })
    emulator.update('people', 1)
    emulator.remove('people', 2)
    const second = await sync()
    expect(Math.min(...cursors(second.records))).toBeGreaterThan(
      Math.max(...cursors(first.records)),
    )
    const [emitted] = second.messages.flatMap(({ record }) => record?.emitted_at ?? [])
    expect(emitted).toBeGreaterThan(emulator.now().getTime() + 7_000_000)
    expect(scenario.differences()).toEqual([])
  })

  it('is above the records of a sync that was killed, whatever its clock said', async () => {
    const { emulator, sync } = await start(['job_categories'])
    await sync()
    emulator.advance({ hours: 24 })
    const killed = await sync({ killAfter: 8 })
    expect(killed.records.length).toBeGreaterThan(0)
    emulator.advance({ hours: -1 })
    const next = await sync()
    expect(Math.min(...cursors(next.records))).toBeGreaterThan(Math.max(...cursors(killed.records)))
  })

  it('is above those of an older state without one', async () => {
    const { emulator, sync } = await start(['people'])
    await sync()
    scenario.platform = withState(scenario.platform, 'people', ({ cursor: _, ...older }) => older)
    emulator.update('people', 1)
    const { records, warnings } = await sync()
    expect(warnings).toEqual([])
    expect(cursorOf(records[0])).toBeGreaterThan(1_000_000_000_000_000)
    expect(scenario.differences()).toEqual([])
  })

  it('is one for all changes of a row in an answer, of which the newest is written', async () => {
    const { emulator, sync } = await start(['people'], { deltaLog: true, deltaPageSize: 2 })
    await sync()
    for (const lastName of ['Peeters', 'Janssens', 'Maes'])
      emulator.update('people', 1, { lastName })
    const { records } = await sync()
    expect(records.map(({ lastName }) => lastName)).toEqual(['Janssens', 'Maes'])
    expect(scenario.differences()).toEqual([])
  })

  it('makes a Delete count by its place, whatever version it has', async () => {
    const { emulator, sync } = await start(['people'], { deltaLog: true, staleDeletes: true })
    await sync()
    const [person] = emulator.all('people')
    emulator.update('people', 1)
    emulator.remove('people', 1)
    emulator.remove('people', 2)
    emulator.restore('people', person ?? {})
    const { deleted } = await sync()
    expect(deleted).toEqual([2])
    expect(scenario.differences()).toEqual([])
  })
})
