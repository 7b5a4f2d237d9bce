import { expect, it } from 'vitest'
import { messagesOf } from './messages.ts'
import { singerFaults } from './singer-faults.ts'

const SECRET = 'open-sesame'
const state = (page: number) => ({
  type: 'STATE',
  value: { bookmarks: { books: { page } }, currently_syncing: null },
})
const schema = {
  type: 'SCHEMA',
  stream: 'books',
  schema: {
    type: 'object',
    properties: {
      isbn: { type: 'integer' },
      day: { type: ['string', 'null'], format: 'date' },
      at: { type: ['string', 'null'], format: 'date-time' },
      _generation: { type: 'integer' },
      _ab_cdc_cursor: { type: 'integer' },
    },
  },
  key_properties: ['isbn'],
  bookmark_properties: ['_ab_cdc_cursor'],
}
const record = {
  type: 'RECORD',
  stream: 'books',
  time_extracted: '2026-03-01T12:00:00.000Z',
  version: 7,
  record: {
    isbn: 1,
    day: '2024-02-29',
    at: '2026-03-01T12:00:00Z',
    _generation: 7,
    _ab_cdc_cursor: 9,
  },
}
const GOOD: readonly object[] = [
  state(0),
  schema,
  record,
  { type: 'ACTIVATE_VERSION', stream: 'books', version: 7 },
  state(1),
]

function faultsOf(lines: readonly object[], { stderr = '', isCut = false } = {}): string {
  const stdout = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return singerFaults({ exitCode: 0, stdout, stderr, secrets: [SECRET], isCut }).join('\n')
}

const withRecord = (data: object, around: object = {}) =>
  GOOD.with(2, { ...record, ...around, record: { ...record.record, ...data } })

it('finds no fault in the output of a correct tap, complete or cut anywhere', () => {
  expect(faultsOf(GOOD)).toBe('')
  for (let lines = 0; lines < GOOD.length; lines++)
    expect(faultsOf(GOOD.slice(0, lines), { isCut: true })).toBe('')
})

it.each([
  ['is of no known type', [...GOOD.slice(0, 4), { type: 'HELLO' }, state(1)], 'type HELLO'],
  ['is a state without a value', [...GOOD, { type: 'STATE' }], 'a STATE: '],
  ['is a schema without columns', GOOD.with(1, { ...schema, schema: {} }), 'a SCHEMA: '],
  ['comes before its schema', [state(0), record, schema, state(1)], 'before its schema'],
  ['is a second schema', [state(0), schema, schema, state(1)], 'two schemas'],
  ['is a schema without a key', GOOD.with(1, { ...schema, key_properties: [] }), 'no key'],
  [
    'is a schema ordered by a column that it does not have',
    GOOD.with(1, { ...schema, bookmark_properties: ['no'] }),
    'a bookmark property',
  ],
  ['does not fit its schema', withRecord({ isbn: 'one' }), '"type":"integer"'],
  ['has a day that there is not', withRecord({ day: '2026-02-30' }), '"format":"date"'],
  ['has a time without a zone', withRecord({ at: '2026-03-01T12:00:00' }), '"format":"date-time"'],
  ['has no key', withRecord({ isbn: undefined }), 'without its key'],
  ['has no cursor', withRecord({ _ab_cdc_cursor: undefined }), 'no cursor'],
  ['is of another version', withRecord({ _generation: 8 }), 'not the version'],
  ['has a version beyond 32 bits', withRecord({}, { version: 2 ** 33 }), 'is no generation'],
  ['has no time', withRecord({}, { time_extracted: 'now' }), 'time_extracted now'],
  [
    'is a state in mid-stream',
    GOOD.with(4, { type: 'STATE', value: { bookmarks: {}, currently_syncing: 'books' } }),
    'a state that is syncing',
  ],
  ['begins without a state', GOOD.slice(1), 'the first line is not a STATE'],
  ['ends without a state', GOOD.slice(0, -1), 'the last line is not a STATE'],
])('finds a line that %s', (_what, lines, words) => {
  expect(faultsOf(lines)).toContain(words)
})

it('finds a secret in the log, and a line that is no message', () => {
  expect(faultsOf(GOOD, { stderr: `token=${SECRET}` })).toBe('the log prints a secret')
  const { faults } = messagesOf({ exitCode: 0, stdout: '{"type":"STATE"}\n1\n{', stderr: '' })
  expect(faults).toEqual(['the last line has no end', 'line 2 is not a JSON object'])
})
