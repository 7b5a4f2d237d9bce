import fc from 'fast-check'

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
export const unknownMembers: fc.Arbitrary<OddMember> = fc.record({ member: names, value: values })

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
