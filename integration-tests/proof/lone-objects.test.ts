import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { run, tap } from '../testing/run.ts'
import { selecting } from '../testing/singer-messages.ts'

const LEVEL = { level: 1, activityDefinition: { id: 'a-1' } }
/** Listed, because its day is before the window of the delta. */
const OLD_DAY = '2024-06-03'
const DAY = '2026-11-10'

type Row = Readonly<Record<string, unknown>>

let emulator: Emulator
let config: object
beforeEach(async () => {
  emulator = await startEmulator({ people: 0 })
  config = { ...emulator.config(), start_date: '2024-06-01' }
})
afterEach(() => emulator.close())

const levelsOf = (records: readonly Row[]) => records.map((row) => row['activityLevels'])

describe('one activity level instead of an array', () => {
  it.each([
    ['clockings', 'clockings', 'date'],
    ['activity_durations', 'activity-durations', 'date'],
    ['assignments', 'assignments', 'from'],
  ])(
    'is an array of one in %s: in a list, a load and a change',
    async (stream, collection, day) => {
      emulator.insert(collection, { [day]: OLD_DAY, activityLevels: LEVEL })
      const { id } = emulator.insert(collection, { [day]: DAY, activityLevels: LEVEL })
      const read = (state?: unknown) =>
        run({
          program: 'source-protime',
          command: 'read',
          in: 'process',
          config,
          catalog: [stream],
          state,
        })
      const first = await read()
      expect(levelsOf(first.records(stream))).toEqual([[LEVEL], [LEVEL]])
      emulator.update(collection, id as number, { activityLevels: { level: 2 } })
      const second = await read(first.state)
      expect(levelsOf(second.records(stream))).toEqual([[{ level: 2 }]])
    },
  )

  it('is an array for a Singer target, too, even if fields are deselected', async () => {
    const { id } = emulator.insert('assignments', { from: DAY, activityLevels: LEVEL })
    const whole = await tap({ config, catalog: selecting(['assignments'], []) })
    expect(levelsOf(whole.records('assignments'))).toEqual([[LEVEL]])
    emulator.update('assignments', id as number, { activityLevels: { ...LEVEL, level: 2 } })
    const catalog = selecting(
      ['assignments'],
      [['properties', 'activityLevels', 'items', 'properties', 'activityDefinition']],
    )
    const part = await tap({ config, catalog, state: whole.state })
    expect(levelsOf(part.records('assignments'))).toEqual([[{ level: 2 }]])
  })
})
