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

/** The same, with numbers of all digits in columns of numbers, and what takes the most memory. */
export const oddInDuckDb: fc.Arbitrary<OddMember> = fc.oneof(
  { weight: 60, arbitrary: oddMembers },
  {
    weight: 15,
    arbitrary: fc.constantFrom(
      ...['contractPercentage', 'numberOfWorkingDaysPerWeek'].map((member) => ({
        member,
        value: exact,
      })),
    ),
  },
  { weight: 1, arbitrary: fc.constant({ member: 'town', value: huge }) },
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
