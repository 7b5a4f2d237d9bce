import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config/config.ts'
import { createMask } from '../ground/mask.ts'
import { type ReceivedRequest, reply, startHttpService } from '../http/testing/http-service.ts'
import { shortRetryPolicy } from '../http/testing/virtual-time.ts'
import type { CheckResult, Log } from '../protocol/connector.ts'
import { availableStreams } from '../streams/streams.ts'
import { type CheckSettings, checkService } from './check.ts'

const html: Respond = (response) => reply(response, 200, '<html>Sign in</html>')
const silent: Respond = () => {}

const PREFIX = '/connector/svcapi/api/v1'

/** How many streams there are where no activity structure is configured. */
const COUNT = availableStreams({ activityStructures: [] }).size

/** Answers one request. */
type Respond = (response: ServerResponse, request: ReceivedRequest) => void

/** A service, and settings of the check of it. */
interface CheckScenario {
  /** Answers of the API by path below the prefix; a page without rows where none is given. */
  readonly api?: Readonly<Record<string, Respond>>
  /** Answers of the API whatever the path. */
  readonly all?: Respond
  readonly token?: Respond
  readonly scope?: string
  /** Settings on top of the necessary ones. */
  readonly settings?: object
  readonly check?: Partial<CheckSettings>
}

const page: Respond = (response) => reply(response, 200, { value: [] })
/** Answers with this status and body. */
const status =
  (code: number, words: string | object = ''): Respond =>
  (response) =>
    reply(response, code, words)

/** A service that answers as the scenario says, and the outcome of a check of it. */
async function check(scenario: CheckScenario = {}): Promise<CheckResult & { asked: string[] }> {
  const { api = {}, all, scope, settings } = scenario
  const grant: Respond = (response) => reply(response, 200, { access_token: 'token', scope })
  const { origin, requests } = await startHttpService((request, response) => {
    const { pathname } = new URL(request.url, 'http://x')
    if (pathname.endsWith('/connect/token')) return (scenario.token ?? grant)(response, request)
    return (all ?? api[pathname.slice(PREFIX.length)] ?? page)(response, request)
  })
  const result = await checkAt(origin, settings, scenario.check)
  const asked = requests
    .filter(({ url }) => url.startsWith(PREFIX))
    .map(({ url }) => url.slice(PREFIX.length))
  return { ...result, asked }
}

const several: Respond = (response, { url }) =>
  reply(response, url.includes('/people') ? 403 : 401, '')

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {} }

/** The outcome of a check of what is at an address. */
function checkAt(origin: string, more: object = {}, settings: Partial<CheckSettings> = {}) {
  const config = parseConfig({
    tenant: 'demo',
    environment: { type: 'custom', base_url: origin, auth_url: `${origin}/tenants/demo` },
    client_id: 'id',
    client_secret: 'a-secret',
    ...more,
  })
  return checkService([...availableStreams(config).values()], {
    config,
    mask: createMask(),
    signal: new AbortController().signal,
    log: SILENT,
    retryPolicy: shortRetryPolicy(),
    ...settings,
  })
}

describe('a check of a service that works', () => {
  it('requests the first page of every stream, and never a delta', async () => {
    const { isUsable, message, asked } = await check()
    expect([isUsable, message]).toEqual([true, `${COUNT} of ${COUNT} streams can be read.`])
    expect([asked.length, new Set(asked).size]).toEqual([COUNT, COUNT])
    expect(asked.filter((url) => /delta/i.test(url))).toEqual([])
  })

  it('requests one day of a dated collection', async () => {
    const { asked } = await check()
    const filter = decodeURIComponent(asked.find((url) => url.startsWith('/clockings')) ?? '')
    const [from, until] = filter.match(/\d{4}-\d\d-\d\d/g) ?? []
    expect([typeof from, until]).toEqual(['string', from])
  })

  it('does not wait for the end of a page', async () => {
    const { message } = await check({ all: (response) => response.write('{"value":[{"id":1},') })
    expect(message).toBe(`${COUNT} of ${COUNT} streams can be read.`)
  })

  it('requests each activity structure, because all of them are read', async () => {
    const structure = (level: number) => ({ structure_version_id: 'a', level })
    const path = '/activity-structure-versions/a/levels/2/activity-definitions'
    const { message } = await check({
      api: { [path]: status(404) },
      settings: { activity_structures: [structure(1), structure(2)] },
    })
    expect(message).toMatch(/streams can be read.*activity_definitions \(404/)
    expect(message).toContain(`${COUNT} of ${COUNT + 1} streams`)
  })

  it('treats the references of one collection as those of all', async () => {
    const api = { '/external-references/absence-definitions': status(400) }
    expect((await check({ api })).message).toBe(`${COUNT} of ${COUNT} streams can be read.`)
  })
})

describe('a stream that cannot be read', () => {
  it('is named with its status and the text of the service', async () => {
    const api = { '/people': status(403, { message: 'Not for you.' }), '/sectors': status(404) }
    const { isUsable, message } = await check({ api })
    expect([isUsable, message]).toEqual([
      true,
      `${COUNT - 2} of ${COUNT} streams can be read. Not readable: people (403: the client has no access: Not for you); sectors (404: the service does not offer this to your tenant or API).`,
    ])
  })

  it('is named if something else answers', async () => {
    const { message } = await check({ api: { '/jobs': html, '/sectors': html } })
    expect(message).toBe(
      `${COUNT - 2} of ${COUNT} streams can be read. Not readable: jobs, sectors (this is not the API: the response is not JSON).`,
    )
  })

  it('is named if its scope is missing, and is not requested', async () => {
    const { message, asked } = await check({
      scope: 'connector-svcapi-sectors.read connector-svcapi-jobs.read',
    })
    expect(message).toContain(
      `2 of ${COUNT} streams can be read. Not readable, because the client lacks`,
    )
    expect(message).toContain('absences (connector-svcapi-absences.read)')
    expect(asked.toSorted()).toEqual(['/jobs', '/sectors'])
  })

  it('is not judged if the service has no list of it, and only a delta would show it', async () => {
    const { message } = await check({ api: { '/people': status(404), '/jobs': status(405) } })
    expect(message).toBe(
      `${COUNT - 2} of ${COUNT} streams can be read. Not checked, because the service has no list of them and only a delta would show it: jobs, people.`,
    )
  })

  it('is named if it does not answer in time', async () => {
    const api = { '/people': silent }
    const { isUsable, message } = await check({ api, check: { limitMs: 500 } })
    expect([isUsable, message]).toEqual([
      true,
      `${COUNT - 1} of ${COUNT} streams can be read. No response within 0.5 seconds: people.`,
    ])
  })
})

describe('a check that finds nothing to read', () => {
  it.each<[string, CheckScenario, RegExp]>([
    [
      'for the name of the API when every path is unknown',
      { all: status(404) },
      /^The service responds with 404 for every list at http:.*svcapi\/api\/v1\. Check environment\.api_name, which is svcapi, and the address of the tenant\.$/,
    ],
    [
      'for the name of the API when the scopes are those of another',
      { scope: 'connector-prot-api-access-clockings.read connector-prot-api-people.read' },
      /its scopes are those of prot-api\. Set environment\.api_name to prot-api\.$/,
    ],
    [
      'for scopes when there is none that fits',
      { scope: 'connector-svcapi-webhooks.read' },
      /^The client may read nothing: .*Ask the operator.*check environment\.api_name/,
    ],
    [
      'once for one cause',
      { all: status(403) },
      /^No stream can be read\. The client has no access \(403 for [^ ]*\)\.$/,
    ],
    [
      'for the address when something else answers',
      { all: html },
      /^The server at http:.* is not the API: its responses are not JSON\. Check the tenant/,
    ],
    [
      'for time when the service fails',
      { all: status(503) },
      /^No stream can be read\. The service failed \(503 for .*\)\. Try again later\.$/,
    ],
    [
      'for time when the token endpoint fails',
      { token: status(500) },
      /^The service failed \(500 for .*\/connect\/token\)\. Try again later\.$/,
    ],
    [
      'for the address of the token endpoint when that is a web page',
      { token: html },
      /Check the authentication address/,
    ],
    [
      'for the network when no token comes',
      { token: silent, check: { limitMs: 200 } },
      /^127\.0\.0\.1:\d+ did not respond within 0\.2 seconds\. Check the tenant, the environment/,
    ],
    [
      'for the network when no answer comes',
      { all: silent, check: { limitMs: 200 } },
      /^127\.0\.0\.1:\d+ did not respond within 0\.2 seconds\. Check the tenant, the environment/,
    ],
    [
      'for time when the service asks to wait',
      {
        all: (response) => reply(response, 429, '', { 'retry-after': '60' }),
        check: { limitMs: 20_000 },
      },
      /^No stream can be read\. The service requires a wait of 1 minute \(Retry-After\), which is longer/,
    ],
  ])('asks %s', async (_, scenario, words) => {
    const { isUsable, message } = await check(scenario)
    expect([isUsable, message]).toEqual([false, expect.stringMatching(words)])
  })

  it.each<[string, CheckScenario, string | undefined]>([
    ['a wrong secret', { token: status(400, { error: 'invalid_client' }) }, 'client-not-accepted'],
    ['paths that are all unknown', { all: status(404) }, 'api-not-found'],
    ['one cause for all streams', { all: status(403) }, 'no-access'],
    ['scopes of another API', { scope: 'connector-prot-api-people.read' }, 'not-entitled'],
    ['a web page', { all: html }, 'check-failed'],
    ['a network without responses', { all: silent, check: { limitMs: 200 } }, 'check-failed'],
    ['several causes, which have no common id', { all: several }, undefined],
  ])('has the id of %s', async (_, scenario, id) => {
    expect(await check(scenario)).toMatchObject({ isUsable: false, id })
  })

  it('names every stream if the causes differ', async () => {
    const { isUsable, message } = await check({ all: several })
    expect([isUsable, message]).toEqual([
      false,
      expect.stringMatching(
        /^No stream can be read\. Not readable: .*absences.*\(401: .*\); people \(403: /,
      ),
    ])
  })

  it.each([
    ['a host that is not known', 'https://does-not-exist.invalid', /does-not-exist\.invalid/],
    ['a port that is closed', 'http://127.0.0.1:9', /127\.0\.0\.1:9/],
  ])('names %s', async (_, origin, words) => {
    const { isUsable, message } = await checkAt(origin)
    expect([isUsable, message]).toEqual([false, expect.stringMatching(words)])
  })

  it('has no result if the process has to stop', async () => {
    const stop = new AbortController()
    const stopped = new Error('stopped')
    const all = () => stop.abort(stopped)
    await expect(check({ all, check: { signal: stop.signal } })).rejects.toBe(stopped)
  })
})

const references = (collection: string, ...names: string[]) => ({
  external_references: [{ collection, names }],
})

describe('an external reference', () => {
  const refuses =
    (...names: string[]): Respond =>
    (response, { url }) =>
      names.some((name) => decodeURIComponent(url).includes(`,${name})`))
        ? reply(response, 400, { message: 'No' })
        : page(response, { url } as ReceivedRequest)

  it('that the service refuses is named, with the setting to correct', async () => {
    const { isUsable, message } = await check({
      all: refuses('@badge'),
      settings: references('people', '@badge'),
    })
    expect(isUsable).toBe(true)
    expect(message).toMatch(
      /Not readable: absences, .*people.* \(the service refuses the external reference @badge of people; correct external_references\)\.$/,
    )
  })

  it('is distinguished from its neighbours', async () => {
    const { message } = await check({
      all: refuses('@badge'),
      settings: references('people', '@employee-number', '@badge'),
    })
    expect(message).toContain('the external reference @badge of people;')
    expect(message).not.toContain('@employee-number')
  })

  it('is not blamed for a request that is refused without it, too', async () => {
    const { message } = await check({
      api: { '/people': status(400, { message: 'No' }) },
      settings: references('people', '@badge-number'),
    })
    expect(message).toContain(
      'Not readable: people (400: the service does not accept the request: No).',
    )
  })

  it.each([
    ['an empty list', status(200, '[]')],
    ['an empty page', status(200, '{"value":[]}')],
    ['404', status(404)],
  ])('of which the service holds none (%s) is named', async (_, none) => {
    const { isUsable, message } = await check({
      api: { '/external-references/people/hr-id': none },
      settings: references('people', 'hr-id'),
    })
    expect([isUsable, message]).toEqual([
      true,
      `${COUNT} of ${COUNT} streams can be read. The service has no external reference hr-id of people: external_references adds nothing under that name.`,
    ])
  })

  it.each([
    ['with values', status(200, { value: [{ referenceName: 'hr-id', externalReference: '1' }] })],
    ['in a form that nobody knows', status(200, '{"count":0}')],
    ['that may not be asked for', status(403)],
  ])('%s is left alone', async (_, answer) => {
    const { message } = await check({
      api: { '/external-references/people/hr-id': answer },
      settings: references('people', 'hr-id'),
    })
    expect(message).toBe(`${COUNT} of ${COUNT} streams can be read.`)
  })
})
