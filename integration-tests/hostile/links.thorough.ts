import { describe, expect, it } from 'vitest'
import { head, page, reply, rowOf } from './raw-service.ts'
import {
  expectFailure,
  expectNoLeak,
  expectStoppedBeforeSecondPage,
  LIST,
  PREFIX,
  runScenario,
  SECOND,
  STREAM,
  secondPage,
} from './scenario.ts'

const OTHER_HOST = 'leads to another host'
const OUTSIDE = 'leaves the API'
const OTHER_COLLECTION = 'to another collection'
/** So large that a checkpoint would be due behind it. */
const LARGE = { ...rowOf(3), text: 'x'.repeat(100_000) }

describe('a next link that must not be followed', () => {
  it.each([
    ['another port', (other: string) => `${other}${LIST}`, OTHER_HOST],
    ['another port without a scheme', (other: string) => `${other.slice(5)}${LIST}`, OTHER_HOST],
    ['backslashes', (other: string) => `\\\\${other.slice(7)}${LIST}`, OUTSIDE],
    ['a tab within the slashes', (other: string) => `/\t${other.slice(6)}${LIST}`, /host|API/],
    ['a line break before it', (other: string) => `\r\n${other}${LIST}`, OTHER_HOST],
    [
      'a user name of our host',
      (other: string) => `http://127.0.0.1@${other.slice(7)}${LIST}`,
      OTHER_HOST,
    ],
    ['another scheme', () => 'file:///etc/passwd', OTHER_HOST],
    ['a script', () => 'javascript:alert(1)', OTHER_HOST],
    ['data', () => 'data:application/json,{"value":[]}', OTHER_HOST],
    [
      'https in place of http',
      (other: string) => `${other.replace('http', 'https')}${LIST}`,
      OTHER_HOST,
    ],
    [
      'a name of the same machine',
      (other: string) => `http://localhost:${other.split(':')[2]}${LIST}`,
      OTHER_HOST,
    ],
    ['another API', () => '/connector/adminapi/api/v1/people', OUTSIDE],
    ['another version', () => '/connector/svcapi/api/v2/people', OUTSIDE],
    ['the token service', () => '/tenants/demo/connect/token', OUTSIDE],
    ['dot segments', () => `${PREFIX}/../../../tenants/demo/connect/token`, OUTSIDE],
    ['dot segments in disguise', () => `${PREFIX}/%2e%2e/%2e%2e/x`, OUTSIDE],
    ['an encoded slash', () => `${PREFIX}/..%2f..%2fx`, OUTSIDE],
    ['dot segments behind parameters', () => `${PREFIX}/..;/..;/x`, OUTSIDE],
    ['dot segments that are encoded twice', () => `${PREFIX}/%252e%252e/x`, OUTSIDE],
    ['another collection', () => `${PREFIX}/people?continuationToken=x`, OTHER_COLLECTION],
    ['the delta of another collection', () => `${PREFIX}/people?delta`, OTHER_COLLECTION],
    ['the prefix alone', () => PREFIX, OUTSIDE],
    ['the prefix as a part of a name', () => `${PREFIX}evil/people`, OUTSIDE],
    ['a bare token', () => 'second-page', OUTSIDE],
    ['only a query', () => '?continuationToken=x', OUTSIDE],
    ['a number of a port that is none', () => 'http://127.0.0.1:99999/', 'is not an address'],
    ['an unpaired surrogate', () => `${LIST}?continuationToken=\ud800`, 'is not an address'],
    [
      '5,000 characters',
      () => `${LIST}?continuationToken=${'x'.repeat(5000)}`,
      'the service accepts at most 4096',
    ],
  ])('because of %s', async (_name, link, words) => {
    const recording = await runScenario(
      secondPage((other) => page([LARGE], { nextLink: link(other) })),
    )
    expectFailure(
      recording,
      words === 'the service accepts at most 4096' ? 'config' : 'system',
      words,
    )
    // The bookmark stays before the page: a stored link of that kind would stop every later sync.
    expect(recording.states(STREAM).at(-1)).toMatchObject({ link: SECOND })
    expect(recording.service.requests.map(({ target }) => target)).toEqual([
      '/tenants/demo/connect/token',
      LIST,
      SECOND,
    ])
    expectNoLeak(recording)
  })
})

describe('a link that is followed', () => {
  it.each([
    ['relative', SECOND],
    ['with spaces around it', ` ${SECOND}\n`],
    ['absolute', 'ABSOLUTE'],
  ])('%s', async (_name, nextLink) => {
    const recording = await runScenario({
      api: () => (asked) =>
        asked.target === SECOND
          ? page([rowOf(2)])
          : page([rowOf(1)], {
              NEXTLINK: nextLink.replace(
                'ABSOLUTE',
                `http://${asked.headers.get('host')}${SECOND}`,
              ),
            }),
    })
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)).toHaveLength(2)
  })

  // spec: Conventions: list page
  it.each([
    ['null', 'null'],
    ['an empty text', '""'],
  ])('is not there when it is %s', async (_name, link) => {
    const recording = await runScenario(
      secondPage(() => reply(200, `{"value":[],"nextLink":${link},"deltaLink":${link}}`)),
    )
    expect(recording.errors).toEqual([])
    expect(recording.states(STREAM).at(-1)).toMatchObject({ phase: 'complete' })
  })
})

describe('a link that is not a string', () => {
  it.each(['7', 'true', '{"href":"/x"}', `["${SECOND}"]`])('%s', async (link) => {
    const recording = await runScenario(
      secondPage(() => reply(200, `{"value":[],"nextLink":${link}}`)),
    )
    expectFailure(recording, 'system', 'is neither a string nor null')
    expectStoppedBeforeSecondPage(recording)
  })
})

describe('an endless chain of pages', () => {
  it('that repeats its link is refused', async () => {
    const recording = await runScenario(secondPage(() => page([LARGE], { nextLink: SECOND })))
    expectFailure(recording, 'system', 'that it had sent before')
    expect(recording.states(STREAM).at(-1)).toMatchObject({ link: SECOND })
  })

  it('that comes back to its first page is refused', async () => {
    const recording = await runScenario(secondPage(() => page([rowOf(3)], { nextLink: LIST })))
    expectFailure(recording, 'system', 'that it had sent before')
  })

  it('that has a cycle of three is refused', async () => {
    const recording = await runScenario({
      api: () => (asked) => {
        const n = Number(asked.target.split('=')[1] ?? 0)
        return page([rowOf(n + 1)], { nextLink: `${LIST}?continuationToken=${(n % 3) + 1}` })
      },
    })
    expectFailure(recording, 'system', 'that it had sent before')
    expect(recording.records(STREAM).length).toBeLessThan(10)
  })

  it('of empty pages is refused', async () => {
    let n = 0
    const recording = await runScenario({
      api: () => () => page([], { nextLink: `${LIST}?continuationToken=${++n}` }),
    })
    expectFailure(recording, 'system', 'page after page without an end')
    expect(recording.service.requests.length).toBeLessThan(1100)
  })
})

describe('a redirect', () => {
  const to = (location: string, status = 302) => head(status, { location, 'content-length': 0 })

  it.each([301, 302, 303, 307, 308])('by %s to another host is refused', async (status) => {
    const recording = await runScenario(secondPage((other) => to(`${other}${LIST}`, status)))
    expectFailure(recording, 'system', OTHER_HOST)
    expectStoppedBeforeSecondPage(recording)
    expectNoLeak(recording)
  })

  it.each([
    ['out of the API', '/tenants/demo/connect/token', 'system', OUTSIDE],
    ['to another collection', `${PREFIX}/people`, 'system', OTHER_COLLECTION],
    ['to an empty address', '', 'system', 'unexpected status (302'],
    ['to a sign-in page elsewhere', 'https://login.example/?a=b', 'system', OTHER_HOST],
    ['to itself for ever', SECOND, 'system', 'unexpected status (302'],
  ] as const)('%s is refused', async (_name, location, failure, words) => {
    const recording = await runScenario(secondPage(() => to(location)))
    expectFailure(recording, failure, words)
    expectStoppedBeforeSecondPage(recording)
    expectNoLeak(recording)
  })

  it('within the API is followed', async () => {
    const recording = await runScenario(secondPage(() => to(`${LIST}?moved`)))
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM).map(({ id }) => id)).toEqual([1, 2, 9])
  })

  it('of the token request is not followed, so that the secret goes nowhere else', async () => {
    const recording = await runScenario({
      api: () => () => page([]),
      token: (other) => () => to(`${other}/connect/token`, 307),
    })
    expectFailure(recording, 'system', 'unexpected status (307')
    expectNoLeak(recording)
  })
})

describe('a stored link', () => {
  it.each([
    ['another host', 'https://evil.example/connector/svcapi/api/v1/x'],
    ['another collection', `${PREFIX}/people?continuationToken=x`],
    ['the changes of another collection', `${PREFIX}/delta/people?deltaToken=x`],
    ['what is no collection', `${PREFIX}/webhooks`],
  ])('that leads to %s starts the stream over', async (_, link) => {
    const first = await runScenario(secondPage(() => reply(500, '')))
    const { service: _service, ...last } = first.states(STREAM).at(-1) as { service: string }
    const recording = await runScenario({
      api: () => (asked) =>
        asked.target.startsWith(`${LIST}/`) ? reply(404, '') : page([rowOf(1)]),
      bookmark: { ...last, link },
    })
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM).map(({ id }) => id)).toContain(1)
    // What the new reading does not meet is looked for in the collection itself, and nowhere else.
    const asked = recording.service.requests.map(({ target }) => target)
    expect(asked.slice(0, 2)).toEqual(['/tenants/demo/connect/token', LIST])
    expect(asked.slice(1).filter((target) => !target.startsWith(LIST))).toEqual([])
  })
})
