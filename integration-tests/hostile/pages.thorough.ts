import { describe, expect, it } from 'vitest'
import { page, pageBody, reply, rowOf, type Wire } from './raw-service.ts'
import {
  DELTA_TOKEN,
  expectFailure,
  expectNoLeak,
  expectStoppedBeforeSecondPage,
  PREFIX,
  runScenario,
  type ScenarioRun,
  STREAM,
  secondPage,
} from './scenario.ts'

const ROW = JSON.stringify(rowOf(3))

/** A page whose only record is this text. */
const record = (text: string) => reply(200, `{"value":[${text}]}`)
/** A page whose only record has this id. */
const withId = (id: string) => record(`{"id":${id},"changeVersion":"v1"}`)

describe('a body that is not a page', () => {
  it.each([
    ['an empty body', reply(200, ''), 'the body is empty'],
    ['only spaces', reply(200, ' \r\n\t '), 'the body is empty'],
    ['a web page', reply(200, '<!DOCTYPE html><title>Sign in</title>'), 'not JSON'],
    ['plain text', reply(200, 'OK'), 'not JSON'],
    ['a NUL byte', reply(200, '\0'), 'not JSON'],
    ['null', reply(200, 'null'), 'the body is JSON, but not an object'],
    ['a number', reply(200, '42'), 'the body is JSON, but not an object'],
    ['a string', reply(200, '"value"'), 'the body is JSON, but not an object'],
    ['a bare list', reply(200, `[${ROW}]`), 'the body is JSON, but not an object'],
    ['an empty object', reply(200, '{}'), 'the body has no `value`'],
    ['an error in disguise', reply(200, '{"error":{"message":"no"}}'), 'the body has no `value`'],
    ['value null', reply(200, '{"value":null}'), '`value` is not an array'],
    ['value an object', reply(200, `{"value":${ROW}}`), '`value` is not an array'],
    ['value a string', reply(200, '{"value":"[]"}'), '`value` is not an array'],
    ['value twice', reply(200, `{"value":[],"value":[${ROW}]}`), 'duplicate key `value`'],
    [
      'value twice by escape',
      reply(200, `{"value":[],"v\\u0061lue":[${ROW}]}`),
      'duplicate key `value`',
    ],
    ['a page and more', reply(200, `{"value":[]}{"value":[]}`), 'continues after its end'],
    ['a page and NUL bytes', reply(200, '{"value":[]}\0\0'), 'continues after its end'],
    ['a cut object', reply(200, `{"value":[${ROW}]`), 'before it is complete'],
    ['a cut record', reply(200, `{"value":[${ROW},{"id":4`), 'ends inside element 2 of `value`'],
    ['a cut string', reply(200, '{"value":[{"id":3,"a":"'), 'ends inside element 1 of `value`'],
    ['a trailing comma', reply(200, `{"value":[${ROW},]}`), 'not JSON'],
    ['a missing comma', reply(200, `{"value":[${ROW} ${ROW}]}`), 'not JSON'],
    ['a comment', reply(200, `{"value":[/* ${ROW} */]}`), 'not JSON'],
    ['single quotes', reply(200, "{'value':[]}"), 'not JSON'],
    ['NaN', record('{"id":3,"a":NaN}'), 'not JSON'],
    ['a leading zero', record('{"id":03}'), 'not JSON'],
    ['a raw line break in a string', record('{"id":3,"a":"x\ny"}'), 'not JSON'],
    ['a NUL byte in a string', record('{"id":3,"a":"\0"}'), 'not JSON'],
    ['a damaged escape', record('{"id":3,"a":"\\x"}'), 'not JSON'],
    ['half an escape', record('{"id":3,"a":"\\u12"}'), 'not JSON'],
    ['UTF-16', reply(200, Buffer.from('\ufeff{"value":[]}', 'utf16le')), 'not UTF-8'],
    [
      'Latin-1',
      reply(200, Buffer.from('{"value":[{"id":3,"a":"caf\u00e9"}]}', 'latin1')),
      'not UTF-8',
    ],
  ])('%s', async (_name, wire, words) => {
    const recording = await runScenario(secondPage(() => wire))
    expectFailure(recording, 'system', words)
    expectStoppedBeforeSecondPage(recording)
    expectNoLeak(recording)
  })
})

describe('a page of references', () => {
  it('in another encoding is refused, because two values would become one', async () => {
    const text = '[{"name":"hr","value":"caf\u00e9","internalReference":"1"}]'
    const { errors } = await runScenario({
      api: () => () => reply(200, Buffer.from(text, 'latin1')),
      stream: 'external_references',
    })
    expect(errors.map(({ message }) => message).join()).toContain('not UTF-8')
  })
})

describe('a record that is nested too deep', () => {
  it('fails at once, because it would be the same at the next request', async () => {
    let requests = 0
    const deep = record(`{"id":3,"changeVersion":"v1","a":${'['.repeat(300)}${']'.repeat(300)}}`)
    const recording = await runScenario(
      secondPage(() => {
        requests += 1
        return deep
      }),
    )
    expectFailure(recording, 'system', 'nested deeper than 256 levels')
    expect(requests).toBe(1)
  })
})

describe('an invalid record', () => {
  it.each([
    ['null', record('null'), 'element 1 of `value` is not an object'],
    ['a number', record('7'), 'element 1 of `value` is not an object'],
    ['a list', record('[]'), 'element 1 of `value` is not an object'],
    ['a string', record(`${ROW},"x"`), 'element 2 of `value` is not an object'],
    [
      'an id of 1,100 digits',
      withId('1'.repeat(1100)),
      'element 1 of `value` has a `id` that is longer than 1024 bytes',
    ],
    [
      'an id of 1,100 letters',
      withId(`"${'a'.repeat(1100)}"`),
      'element 1 of `value` has a `id` that is longer than 1024 bytes',
    ],
    [
      'a changeVersion of 1,100 letters',
      record(`{"id":3,"changeVersion":"${'0'.repeat(1100)}"}`),
      'element 1 of `value` has a version that is longer than 1024 bytes',
    ],
    [
      'a member with a name of 1,100 letters',
      record(`{"id":3,"a":{"${'a'.repeat(1100)}":1}}`),
      'is longer than 1024 bytes',
    ],
    [
      '17 MiB',
      record(`{"id":3,"a":"${'a'.repeat(17 * 1024 ** 2)}"}`),
      'element 1 of `value` is larger than 16777216 bytes. If the size is right, increase max_record_mb',
    ],
    ['an empty object', record('{}'), 'element 1 of `value` has no `id`'],
    ['no id', record(`${ROW},{"ID":4}`), 'element 2 of `value` has no `id`'],
    ['id null', withId('null'), 'element 1 of `value` has no `id`'],
    ['a fraction as id', withId('1.5'), 'a record has an `id` that is neither'],
    ['an exponent as id', withId('1e3'), 'a record has an `id` that is neither'],
    ['minus zero as id', withId('-0'), 'a record has an `id` that is neither'],
    ['an object as id', withId('{"a":1}'), 'a record has an `id` that is neither'],
    ['a list as id', withId('[1]'), 'a record has an `id` that is neither'],
    ['true as id', withId('true'), 'a record has an `id` that is neither'],
    ['an empty string as id', withId('""'), 'a record has an `id` that is neither'],
    ['an envelope without data', record('{"changeType":"Update"}'), 'element 1 of `value`'],
    ['data null', record('{"changeType":"Update","data":null}'), 'element 1 of `value`'],
    ['data a list', record('{"changeType":"Update","data":[]}'), 'element 1 of `value`'],
    ['data without id', record('{"changeType":"Delete","data":{}}'), 'element 1 of `value`'],
    [
      'a change of an unknown type',
      record('{"changeType":"Remove","data":{"id":3}}'),
      'element 1 of `value` has a `changeType` that says neither',
    ],
    ['a change of no type', record('{"changeType":null,"data":{"id":3}}'), 'has no `id`'],
    ['a change of type 1', record('{"changeType":1,"data":{"id":3}}'), 'has no `id`'],
    ['300 levels', record(`{"id":3,"a":${'['.repeat(300)}${']'.repeat(300)}}`), 'deeper than 256'],
  ])('%s', async (_name, wire, words) => {
    const recording = await runScenario(secondPage(() => wire))
    expectFailure(recording, 'system', words)
    expectStoppedBeforeSecondPage(recording)
    expectNoLeak(recording)
  })
})

describe('a valid but unusual record', () => {
  it.each([
    ['a negative id', '{"id":-5}', { id: -5 }],
    ['a GUID as id', '{"id":"7f0c-1b"}', { id: '7f0c-1b' }],
    ['lone surrogates', '{"id":3,"a":"\\ud800"}', { id: 3, a: '\ud800' }],
    ['a member twice', '{"id":3,"a":1,"a":2}', { id: 3, a: 2 }],
    ['an escaped name', '{"\\u0069d":3}', { id: 3 }],
    ['an empty name', '{"id":3,"":1}', { id: 3, '': 1 }],
    ['a number as changeVersion', '{"id":3,"changeVersion":9}', { id: 3, changeVersion: 9 }],
    ['changeVersion null', '{"id":3,"changeVersion":null}', { id: 3, changeVersion: null }],
    ['line breaks between members', '{"id":3,\r\n\n"a":[\n]}', { id: 3, a: [] }],
    ['U+2028 in a string', '{"id":3,"a":"\u2028"}', { id: 3, a: '\u2028' }],
    ['200 levels', `{"id":3,"a":${'['.repeat(200)}${']'.repeat(200)}}`, { id: 3 }],
  ])('%s', async (_name, text, expected) => {
    const recording = await runScenario(secondPage(() => record(text)))
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)[2]).toMatchObject(expected)
    expectNoLeak(recording)
  })

  it('keeps every digit of a number that no double can represent', async () => {
    const recording = await runScenario(secondPage(() => withId('123456789012345678901234567890')))
    expect(recording.errors).toEqual([])
    expect(recording.stdout).toContain('"data":{"id":123456789012345678901234567890,')
  })

  it('is in a member with other upper and lower case', async () => {
    const recording = await runScenario(secondPage(() => reply(200, `{"VALUE":[${ROW}]}`)))
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)).toHaveLength(3)
  })

  it('has a byte order mark before it', async () => {
    const recording = await runScenario(secondPage(() => reply(200, `\ufeff{"value":[${ROW}]}`)))
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)).toHaveLength(3)
  })
})

const DELTA_STREAM = 'departments'
const START = `${PREFIX}/departments?delta`
const DELTA = `${PREFIX}/delta/departments?deltaToken=${DELTA_TOKEN}`

/** A delta whose load is answered like this, and its changes like that. */
function delta(load: Wire, changes: Wire = page([], { deltaLink: `${DELTA}-2` })) {
  return runScenario({
    stream: DELTA_STREAM,
    api: () => (asked) => (asked.target === START ? load : changes),
  })
}

/** The stored link is still the one whose answer was damaged, so that the next sync asks it again. */
function expectToAskAgain(recording: ScenarioRun): void {
  expect(recording.states(DELTA_STREAM).at(-1)).toMatchObject({ phase: 'changes', link: DELTA })
}

describe('the end of a delta', () => {
  it.each([
    ['no link', {}],
    ['null', { deltaLink: null }],
    ['an empty text', { deltaLink: '' }],
  ])('with %s in place of its link is an error', async (_name, links) => {
    const recording = await delta(page([rowOf(1)], links))
    expectFailure(recording, 'system', 'without a link to its changes')
    expect(recording.states(DELTA_STREAM).every(({ phase }) => phase === 'initial')).toBe(true)
  })

  it.each([
    ['elsewhere', 'https://evil.example/connector/svcapi/api/v1/x', 'leads to another host'],
    ['out of the API', '/tenants/demo', 'leaves the API'],
  ])(
    'with a link that leads %s is an error, and the link is not stored',
    async (_name, deltaLink, words) => {
      const recording = await delta(page([rowOf(1)], { deltaLink }))
      expectFailure(recording, 'system', words)
      expect(JSON.stringify(recording.states(DELTA_STREAM))).not.toContain(deltaLink)
      expectNoLeak(recording)
    },
  )

  it('with both links continues with the next page', async () => {
    const next = `${START}&continuationToken=second`
    const recording = await runScenario({
      stream: DELTA_STREAM,
      api: () => (asked) => {
        if (asked.target === START) return page([rowOf(1)], { nextLink: next, deltaLink: DELTA })
        if (asked.target === next) return page([rowOf(2)], { deltaLink: `${DELTA}-of-the-end` })
        return page([], { deltaLink: `${DELTA}-2` })
      },
    })
    expect(recording.errors).toEqual([])
    expect(recording.service.requests.at(-1)?.target).toBe(`${DELTA}-of-the-end`)
  })
})

describe('changes that arrive damaged', () => {
  const load = page([rowOf(1)], { deltaLink: DELTA })
  const envelope = (text: string) => reply(200, `{"value":[${text}],"deltaLink":"${DELTA}-2"}`)
  it.each([
    ['a web page', reply(200, '<html>'), 'system', 'not JSON'],
    ['an empty body', reply(200, ''), 'system', 'the body is empty'],
    ['no list', reply(200, '{"deltaLink":"/x"}'), 'system', 'no `value`'],
    ['a cut page', reply(200, pageBody([rowOf(2)]).slice(0, -5)), 'system', 'ends inside'],
    ['a delete of nothing', envelope('{"changeType":"Delete","data":{}}'), 'system', 'no `id`'],
    ['a delete without data', envelope('{"changeType":"Delete"}'), 'system', 'no `id`'],
    ['a failure', reply(500, ''), 'transient', 'The service failed'],
    ['success without content', reply('204', ''), 'system', 'unexpected status (204'],
    [
      'not modified',
      reply('304', '', { 'content-length': '' }),
      'system',
      'unexpected status (304',
    ],
  ] as const)('as %s are requested again by the next sync', async (_name, wire, failure, words) => {
    const recording = await delta(load, wire)
    expectFailure(recording, failure, words)
    expectToAskAgain(recording)
    expectNoLeak(recording)
  })

  it.each([400, 404, 410])('by a dead link (%s) read the stream again, and end', async (status) => {
    const recording = await delta(load, reply(status, ''))
    expectFailure(recording, 'transient', 'expire before the stream is complete')
    expect(recording.records(DELTA_STREAM).map(({ id }) => id)).toEqual([1, 1])
  })

  it('by a delete remove the row, however unusual its other members', async () => {
    const recording = await delta(
      load,
      envelope('{"data":{"id":1,"changeVersion":7},"x":[{}],"changeType":"Delete"}'),
    )
    expect(recording.errors).toEqual([])
    expect(recording.records(DELTA_STREAM)[1]).toMatchObject({
      id: 1,
      _ab_cdc_deleted_at: expect.any(String),
    })
  })
})

describe('a name that could control a terminal', () => {
  const NAME = 'kind\u001b]0;title\u0007\u001b[2J\nERROR forged\u009b31m\u202e'

  it.each(['keep', 'drop'])(
    'says nothing of its own in the log (unknown_fields: %s)',
    async (mode) => {
      const { logs } = await runScenario({
        api: () => () => page([{ ...rowOf(1), [NAME]: 1 }]),
        settings: { unknown_fields: mode },
      })
      expect(logs.join('\n')).toContain('ERROR forged')
      for (const line of logs) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    },
  )
})
