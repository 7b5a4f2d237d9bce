import fc from 'fast-check'
import type { Change, Event, Size, Sync } from './history.ts'

/** A member that no schema knows, or a value that no schema allows. */
export interface OddMember {
  readonly member: string
  readonly value: unknown
}

/** Words of SQL, of our statements and of JavaScript, and what is no word at all. */
const names = fc.constantFrom(
  ...[
    'rowid',
    'content',
    'is_gone',
    '_op',
    'select',
    'Select',
    'order by',
    'row_number',
    'excluded',
  ],
  ...['_protime_row', '_sequence', 'generation', 'main', 'states', 'people', 'unnest', 'json'],
  ...['', ' ', '\u0000', '\ud800', '"', "'; --", 'a\nb', 'é', 'e\u0301', 'x'.repeat(1000)],
  ...['toString', 'constructor', 'town', 'Town', 'comments'],
  // Letters whose lower case depends on the program.
  ...['ΟΔΟΣ', 'İstanbul'],
)

/** Members that schemas know, as what they are not. */
const known = fc.constantFrom(
  'name',
  'code',
  'comments',
  'timeOfDayInMinutes',
  'durationInMinutes',
  'isEnabled',
)

const digits = (text: string) => ({ $digits: text })

const values = fc.constantFrom<unknown>(
  ...[null, '', ' ', 0, -1, 1.5, true, [], {}, [null], { '': { '': 1 } }],
  ...[
    '2025-02-30',
    '0000-00-00',
    '2025-13-01T25:00:00Z',
    '24:00',
    'null',
    'NaN',
    '\u0000',
    '\ud83d',
  ],
  ...['\\ud800', '"', '\u2028', '9007199254740993', 'x'.repeat(70_000)],
  digits('9007199254740993'),
  digits('12345678901234567890123'),
  digits('0.12345678901234567890'),
  { rowid: digits('9007199254740993'), text: '\\ud800' },
)

/** What a service may send although nobody wrote it down. */
export const unknownMembers: fc.Arbitrary<OddMember> = fc
  .record({ member: names, value: values })
  .filter(({ member, value }) => member !== 'comments' || isExact(value))

/** The same, or a member of a schema with a value that its schema does not allow. */
export const oddMembers: fc.Arbitrary<OddMember> = fc.oneof(
  { weight: 3, arbitrary: unknownMembers },
  { weight: 1, arbitrary: fc.record({ member: known, value: values.filter(isExact) }) },
)

/** So many characters as a text may have, and a commit must have room for. */
const huge = { $repeat: 42_000_000 }
const exact = digits('9007199254740993')

/** Names of columns, tables and pseudo columns in our statements. */
const ours = fc.constantFrom('rowid', 'content', 'is_gone', '_op', '_row')
/** Columns of which a warehouse knows the type. */
const numbers = fc.constantFrom(
  ...['timeOfDayInMinutes', 'durationInMinutes', 'startTimeInMinutes', 'contractHoursInMinutes'],
)
const misfits = fc.constantFrom<unknown>('2025-02-30', 'NaN', '', 1.5, true, ['24:00'], { a: 1 })
const fractions = fc.constantFrom('contractPercentage', 'numberOfWorkingDaysPerWeek')
const escaped = fc.constantFrom<unknown>(
  { text: '\\ud800' },
  { '\\udfff': ['\\\\ud800', '\\udbff"'] },
)

/** The same, with what tables, statements and commits have to hold. */
export const oddInDuckDb: fc.Arbitrary<OddMember> = fc.oneof(
  { weight: 40, arbitrary: oddMembers },
  { weight: 14, arbitrary: fc.record({ member: ours, value: values }) },
  { weight: 14, arbitrary: fc.record({ member: numbers, value: misfits }) },
  { weight: 14, arbitrary: fc.record({ member: fractions, value: fc.constant(exact) }) },
  { weight: 8, arbitrary: fc.record({ member: names, value: escaped }) },
  { weight: 3, arbitrary: fc.constant({ member: 'town', value: huge }) },
)

/** The value of an odd member as a record has it. */
export function oddValue({ value }: OddMember): unknown {
  const { $repeat: characters } = Object(value) as { readonly $repeat?: number }
  return characters === undefined ? value : { text: 'x'.repeat(characters) }
}

/** The comparison hashes what it has read, digits that a double does not hold left out. */
function isExact(value: unknown): boolean {
  return !JSON.stringify(value).includes('$digits')
}

/** What events are about: everything at once, or a few records of one stream again and again. */
export interface Focus {
  readonly stream: fc.Arbitrary<number>
  readonly pick: fc.Arbitrary<number>
  /** Days from now. */
  readonly day: fc.Arbitrary<number>
  /** How often something happens that makes a stream start over, which hides what came before. */
  readonly disruption: number
  readonly odd: fc.Arbitrary<OddMember>
}

/** Every stream; days in the delta's window, on both sides of its border, planned, long ago. */
export const wide: Focus = {
  stream: fc.nat(2),
  pick: fc.nat(3),
  day: fc.constantFrom(-2, -30, -300, -700, -700, -1000, -1400, 40),
  disruption: 1,
  odd: oddMembers,
}

/** One stream, a few of its records, and the two sides of the border. */
export const narrow: Focus = {
  stream: fc.constant(0),
  pick: fc.nat(2),
  day: fc.constantFrom(-30, -700),
  disruption: 0,
  odd: oddMembers,
}

/** One stream whose rows lie in several slices of its lists. */
export const long: Focus = {
  stream: fc.constant(0),
  pick: fc.nat(4),
  day: fc.constantFrom(-30, -700, -850, -950, -1040),
  disruption: 0,
  odd: oddMembers,
}

/** Records to begin with. */
export function inserts({ stream, pick, day }: Focus): fc.Arbitrary<Change> {
  const size: fc.Arbitrary<Size> = fc.oneof(
    { weight: 68, arbitrary: fc.constant('small' as const) },
    { weight: 11, arbitrary: fc.constant('medium' as const) },
    { weight: 1, arbitrary: fc.constant('large' as const) },
  )
  return fc.record({ kind: fc.constant('insert' as const), stream, pick, day, size })
}

function changes(focus: Focus): fc.Arbitrary<Change> {
  const { stream, pick, day, odd: members } = focus
  const move = fc.constant('move' as const)
  const kind = fc.constantFrom('update', 'remove', 'remove', 'soft-delete', 'restore')
  const odd = fc.constant('odd' as const)
  return fc.oneof(
    { weight: 4, arbitrary: inserts(focus) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.record({ kind: odd, stream, pick }), members)
        .map(([where, what]) => ({ ...where, ...what })),
    },
    { weight: 7, arbitrary: fc.record({ kind: move, stream, pick, day }) },
    { weight: 9, arbitrary: fc.record({ kind, stream, pick }) },
  )
}

export function events(focus: Focus): fc.Arbitrary<Event> {
  const { stream, pick, disruption } = focus
  const change = fc.constant('change' as const)
  const advance = fc.constant('advance' as const)
  const long = fc.constantFrom(-3, 50, 80, 24 * 45, 24 * 400)
  const deltas = fc.constantFrom('expire-delta', 'steal-delta')
  const continuations = fc.constant('expire-continuations' as const)
  const status = fc.constantFrom(400, 409, 410)
  const reference = fc.constant('reference' as const)
  return fc.oneof(
    { weight: 14, arbitrary: fc.record({ do: change, change: changes(focus) }) },
    { weight: 2, arbitrary: fc.record({ do: advance, hours: fc.constantFrom(1, 2, 25, 25) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'expire-tokens' as const }) },
    { weight: 1, arbitrary: fc.record({ do: reference, pick, isRemoval: fc.boolean() }) },
    { weight: disruption, arbitrary: fc.record({ do: advance, hours: long }) },
    { weight: disruption, arbitrary: fc.record({ do: continuations, status }) },
    { weight: disruption, arbitrary: fc.record({ do: deltas, stream }) },
  )
}

/** What happens to one record and sometimes to another, which is where delete detection goes wrong. */
export function rowChanges({ stream, pick, day }: Focus): fc.Arbitrary<Event[]> {
  const turn = fc.record({
    day: fc.option(day, { freq: 2 }),
    other: fc.option(pick, { freq: 2 }),
    isUpdate: mostlyNot(4),
  })
  return fc
    .record({ stream, pick, turns: fc.array(turn, { minLength: 2, maxLength: 4 }) })
    .map(({ stream, pick, turns }) => {
      let isThere = true
      return turns.map(({ day, other, isUpdate }): Event => {
        const record = { stream, pick: other ?? pick }
        if (isUpdate) return { do: 'change', change: { kind: 'update', ...record } }
        if (day !== null) return { do: 'change', change: { kind: 'move', day, ...record } }
        isThere = !isThere
        return { do: 'change', change: { kind: isThere ? 'restore' : 'remove', ...record } }
      })
    })
}

/** A row changes behind the page that is being read, and then another one before it. */
export function changesBehindPage({ stream, pick, day }: Focus): fc.Arbitrary<Sync['during']> {
  return fc
    .record({
      stream,
      pick,
      isRemoved: fc.constantFrom(true, true, false),
      early: fc.integer({ min: 1, max: 2 }),
      later: fc.constantFrom(0, 0, 0, 1, 2, 4, 8),
      day: fc.option(day, { freq: 2 }),
      ahead: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ stream, pick, isRemoved, early, later, day, ahead }) => {
      // In a list of pages of one, read first, the row has just passed at the earliest of these.
      const late = pick + 3 + later
      const behind: Change =
        day === null ? { kind: 'restore', stream, pick } : { kind: 'move', stream, pick, day }
      const before: Change = { kind: 'update', stream, pick: pick + ahead }
      const gone: Change = { kind: 'remove', stream, pick }
      return [
        ...(isRemoved
          ? [{ atRequest: early, event: { do: 'change', change: gone } as const }]
          : []),
        { atRequest: late, event: { do: 'change', change: behind } },
        { atRequest: late, event: { do: 'change', change: before } },
      ]
    })
}

/** True once in so many times. */
function mostlyNot(many: number): fc.Arbitrary<boolean> {
  return fc.nat(many - 1).map((n) => n === many - 1)
}
