import { describe, expect, it } from 'vitest'
import { expectFailure, expectNoLeak } from './expectations.ts'
import type { Wire } from './raw-service.ts'
import { DELTA_TOKEN, PREFIX, runScenario, type ScenarioRun } from './scenario.ts'
import { page, pageBody, reply, rowOf } from './wire.ts'

const STREAM = 'departments'
const START = `${PREFIX}/departments?delta`
const DELTA = `${PREFIX}/delta/departments?deltaToken=${DELTA_TOKEN}`

/** A delta whose load is answered like this, and its changes like that. */
function delta(load: Wire, changes: Wire = page([], { deltaLink: `${DELTA}-2` })) {
  return runScenario({
    stream: STREAM,
    api: () => (asked) => (asked.target === START ? load : changes),
  })
}

/** The stored link is still the one whose answer was damaged, so that the next sync asks it again. */
function expectToAskAgain(recording: ScenarioRun): void {
  expect(recording.states(STREAM).at(-1)).toMatchObject({ phase: 'changes', link: DELTA })
}

describe('the end of a delta', () => {
  it.each([
    ['no link', {}],
    ['null', { deltaLink: null }],
    ['an empty text', { deltaLink: '' }],
  ])('with %s in place of its link is an error', async (_name, links) => {
    const recording = await delta(page([rowOf(1)], links))
    expectFailure(recording, 'system', 'without a link to its changes')
    expect(recording.states(STREAM).every(({ phase }) => phase === 'initial')).toBe(true)
  })

  it.each([
    ['elsewhere', 'https://evil.example/connector/svcapi/api/v1/x', 'leads to another host'],
    ['out of the API', '/tenants/demo', 'leaves the API'],
  ])(
    'with a link that leads %s is an error, and the link is not stored',
    async (_name, deltaLink, words) => {
      const recording = await delta(page([rowOf(1)], { deltaLink }))
      expectFailure(recording, 'system', words)
      expect(JSON.stringify(recording.states(STREAM))).not.toContain(deltaLink)
      expectNoLeak(recording)
    },
  )

  it('with both links continues with the next page', async () => {
    const next = `${START}&continuationToken=second`
    const recording = await runScenario({
      stream: STREAM,
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
    ['a failure', reply(500, ''), 'transient', 'The service fails'],
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

  it.each([400, 404, 410])(
    'by a dead link (%s) read the stream once more, and end',
    async (status) => {
      const recording = await delta(load, reply(status, ''))
      expectFailure(recording, 'transient', 'die before the stream can be read')
      expect(recording.records(STREAM).map(({ id }) => id)).toEqual([1, 1])
    },
  )

  it('by a delete take the row out, however odd its other members', async () => {
    const recording = await delta(
      load,
      envelope('{"data":{"id":1,"changeVersion":7},"x":[{}],"changeType":"Delete"}'),
    )
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)[1]).toMatchObject({
      id: 1,
      _ab_cdc_deleted_at: expect.any(String),
    })
  })
})
