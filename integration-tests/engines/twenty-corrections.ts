import type { Emulator } from '../../emulator/emulator.ts'
import { expectSame } from './command.ts'
import type { Row } from './tenant.ts'

/** The minutes of a day by the names of the models, and by those of the service. */
export const FIELDS = {
  due_minutes: 'normalTimeDurationInMinutes',
  present_minutes: 'timePresentDurationInMinutes',
  calculated_presence_minutes: 'calculatedPresenceDurationInMinutes',
  flextime_minutes: 'flextimeDurationInMinutes',
} as const

/** A day as it is before the month is closed. */
const DAY = {
  normalTimeDurationInMinutes: 456,
  timePresentDurationInMinutes: 480,
  calculatedPresenceDurationInMinutes: 480,
  flextimeDurationInMinutes: 24,
}
const TOTALS = 'calculated-totals'
/** Days of people 1 to 4 that are corrected, and three that are not in the end. */
const DAYS = [
  ...['more', 'less', 'none', 'due', 'removed', 'removed too', 'moved out', 'moved', 'of another'],
  ...['only the balance', 'there and back', 'removed and restored'],
] as const
type Day = (typeof DAYS)[number] | 'moved in'

interface Told {
  readonly kind: 'added' | 'gone' | 'changed'
  readonly before?: number
  readonly after?: number
  readonly definition?: unknown
}

/** Twenty corrections of a month, in two parts with a sync between, and what is to be told of them; they follow `prepare`. */
export function twentyCorrections(emulator: Emulator, month: string) {
  const expected: string[] = []
  const days = new Map<Day, Row>()
  const others = new Map<string, readonly Row[]>()
  const isIn = ({ date }: Row) => String(date).startsWith(month)
  const inMonth = (collection: string) => emulator.all(collection).filter(isIn)
  const later = emulator
    .all(TOTALS)
    .filter((row) => personOf(row) === 5 && String(row['date']) > `${month}-31`)
  const set = (collection: string, row: Row, patch: Row): Row =>
    emulator.update(collection, row['id'] as number, patch)
  const remove = (collection: string, row: Row) => emulator.remove(collection, row['id'] as number)
  const day = (name: Day) => defined(days.get(name))
  const other = (collection: string, n: number) => defined(others.get(collection)?.[n])
  const tell = (stream: string, row: Row, field: string, told: Told) => {
    const place = [stream, row['id'], personOf(row), row['date'], told.definition, field]
    expected.push(lineOf([...place, told.before, told.after, told.kind]))
  }
  const tellDay = (row: Row, kind: 'added' | 'gone') => {
    for (const [field, property] of Object.entries(FIELDS))
      tell('calculated_totals', row, field, {
        ...{ kind, [kind === 'gone' ? 'before' : 'after']: DAY[property] },
      })
  }
  const tellAbsence = (n: number, told: Told) =>
    tell('absences', other('absences', n), 'absent_minutes', { definition: 2, ...told })

  return {
    expected,
    prepare() {
      for (const [i, name] of DAYS.entries()) {
        const own = inMonth(TOTALS).filter((row) => personOf(row) === 1 + (i % 4))
        days.set(name, set(TOTALS, defined(own[2 + i]), DAY))
      }
      days.set('moved in', set(TOTALS, defined(later[0]), DAY))
      const absence = { person: { id: 6 }, resultingAbsenceDefinition: { id: 2 } }
      const minutes = { durationInMinutes: 228, calculatedDurationInMinutes: 228 }
      const prepared: readonly (readonly [string, readonly Row[]])[] = [
        [
          'absences',
          ['Approved', 'AwaitingApproval', 'Approved', 'Approved'].map((approvalLevel) => ({
            ...{ ...absence, ...minutes, approvalLevel },
          })),
        ],
        ['counters', [{ durationInMinutes: 60 }, { durationInMinutes: 30 }]],
        ['paid-presences', [{ durationInMinutes: 480 }, { durationInMinutes: 480 }]],
        ['breaks', [{ isBreakTaken: true, calculatedDurationInMinutes: 30 }]],
      ]
      for (const [name, patches] of prepared) {
        const rows = inMonth(name)
        others.set(
          name,
          patches.map((patch, n) => set(name, defined(rows[n]), patch)),
        )
      }
    },

    first() {
      for (const [name, after] of [
        ['more', 510],
        ['less', 450],
        ['none', 0],
      ] as const) {
        set(TOTALS, day(name), { timePresentDurationInMinutes: after })
        tell('calculated_totals', day(name), 'present_minutes', {
          ...{ before: 480, after, kind: 'changed' },
        })
      }
      set(TOTALS, day('due'), { normalTimeDurationInMinutes: 228 })
      tell('calculated_totals', day('due'), 'due_minutes', {
        ...{ before: 456, after: 228, kind: 'changed' },
      })
      for (const name of ['removed', 'removed too'] as const) {
        remove(TOTALS, day(name))
        tellDay(day(name), 'gone')
      }
      set(TOTALS, day('only the balance'), { flextimeBalanceInMinutes: 999 })
      set(TOTALS, day('there and back'), { timePresentDurationInMinutes: 1 })
      remove(TOTALS, day('removed and restored'))
      set('absences', other('absences', 0), { approvalLevel: 'NotApproved' })
      tellAbsence(0, { before: 228, kind: 'gone' })
      set('absences', other('absences', 1), { approvalLevel: 'Approved' })
      tellAbsence(1, { after: 228, kind: 'added' })
    },

    second() {
      const out = set(TOTALS, day('moved out'), { date: defined(later[1])['date'] })
      expectSame(isIn(out), false)
      for (const name of ['moved out', 'moved', 'of another'] as const) tellDay(day(name), 'gone')
      tellDay(set(TOTALS, day('moved'), { date: `${month}-01` }), 'added')
      tellDay(set(TOTALS, day('moved in'), { date: `${month}-02` }), 'added')
      tellDay(set(TOTALS, day('of another'), { person: { id: 7 } }), 'added')
      const made = { ...DAY, person: { id: 8 }, date: `${month}-03` }
      tellDay(emulator.insert(TOTALS, made), 'added')
      set(TOTALS, day('there and back'), { timePresentDurationInMinutes: 480 })
      emulator.restore(TOTALS, day('removed and restored'))
      set('absences', other('absences', 2), { resultingAbsenceDefinition: { id: 4 } })
      tellAbsence(2, { before: 228, kind: 'gone' })
      tellAbsence(2, { after: 228, kind: 'added', definition: 4 })
      set('absences', other('absences', 3), { calculatedDurationInMinutes: 114 })
      tellAbsence(3, { before: 228, after: 114, kind: 'changed' })
      const [more, gone] = [other('counters', 0), other('counters', 1)]
      set('counters', more, { durationInMinutes: 90 })
      remove('counters', gone)
      for (const [row, told] of [
        [more, { before: 60, after: 90, kind: 'changed' }],
        [gone, { before: 30, kind: 'gone' }],
      ] as const)
        tell('counters', row, 'counter_minutes', {
          ...{ ...told, definition: (row['counterDefinition'] as Row)['id'] },
        })
      remove('paid-presences', other('paid-presences', 0))
      tell('paid_presences', other('paid-presences', 0), 'paid_minutes', {
        ...{ before: 480, kind: 'gone' },
      })
      set('paid-presences', other('paid-presences', 1), { durationInMinutes: 420 })
      tell('paid_presences', other('paid-presences', 1), 'paid_minutes', {
        ...{ before: 480, after: 420, kind: 'changed' },
      })
      set('breaks', other('breaks', 0), { isBreakTaken: false })
      tell('breaks', other('breaks', 0), 'break_minutes', { before: 30, kind: 'gone' })
    },
  }
}

/** A row of the answer as text. */
export function lineOf(values: readonly unknown[]): string {
  return values.map((value) => String(value ?? '')).join('|')
}

function personOf({ person }: Row): unknown {
  return (person as Row | undefined)?.['id']
}

function defined(row: Row | undefined): Row {
  if (row === undefined) throw new Error('the tenant lacks a row that is to be corrected')
  return row
}
