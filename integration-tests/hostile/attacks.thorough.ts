import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { runSettings } from '../histories/property.ts'
import { head, page, pageBody, reply, rowOf } from './raw-service.ts'
import {
  expectNoLeak,
  LIST,
  PREFIX,
  runScenario,
  type Scenario,
  type ScenarioRun,
  SECOND,
  STREAM,
  secondPage,
  TOKEN,
} from './scenario.ts'

/** What services send that mean no good, drawn anew each night; more of it then. */

const ODD = [
  '\t',
  '\n',
  '\r',
  '\0',
  ' ',
  '\u00a0',
  '\ufeff',
  '\u202e',
  '\\',
  '%',
  '/',
  ';',
  '@',
  '#',
]

/** Ways to name another origin; `PORT` is its port, `OURS` our own host. */
const ORIGINS = [
  ...['', '', '', 'http://127.0.0.1:PORT', 'HTTP://127.0.0.1:PORT', '//127.0.0.1:PORT'],
  ...['\\\\127.0.0.1:PORT', '/\\127.0.0.1:PORT', '///127.0.0.1:PORT', 'http:127.0.0.1:PORT'],
  ...['http:\\\\127.0.0.1:PORT', 'http://OURS@127.0.0.1:PORT', 'http://OURS\\@127.0.0.1:PORT'],
  ...['http://OURS#@127.0.0.1:PORT', 'http://OURS?@127.0.0.1:PORT', 'http://localhost:PORT'],
  ...['http://[::ffff:127.0.0.1]:PORT', 'http://2130706433:PORT', 'http://0x7f.1:PORT'],
  ...['http://127.0.0.1.:PORT', 'http://１２７.0.0.1:PORT', 'http://127。0。0。1:PORT'],
  ...['https://127.0.0.1:PORT', 'ws://127.0.0.1:PORT', 'file://', 'javascript:', 'data:,'],
  ...['\thttp://127.0.0.1:PORT', ' //127.0.0.1:PORT', 'http://OURS', 'http://OURS\\', '//OURS'],
]

const STEPS = [
  ...['', '/job-categories', '/departments', '/people', '/delta/people', '/delta/departments'],
  ...['/webhooks', '/..', '/../..', '/..;', '/.;/..', '/%2e%2e', '/%252e%252e', '/%2E%2e', '/.'],
  ...[
    '//',
    '/%2f',
    '%2f..',
    '/%5c..',
    '\\..',
    '/..%00',
    '/7',
    '/job-categories;x=1',
    '/%c0%ae%c0%ae',
  ],
  ...['/external-references/people', '/JOB-CATEGORIES', '/．．', '/..%ef%bc%8f'],
]
const ENDS = [
  ...['', '?continuationToken=x', '?delta', '?deltaToken=x', '#x', '?x=\r\nX-Injected: 1'],
  ...['%0d%0aX-Injected:%201', ' HTTP/1.1\r\nX-Injected: 1\r\n\r\n', '?@127.0.0.1:PORT/'],
]

const links = fc
  .record({
    origin: fc.constantFrom(...ORIGINS),
    prefix: fc.constantFrom(PREFIX, PREFIX, PREFIX, '', `${PREFIX}x`, '/connector'),
    steps: fc.array(fc.constantFrom(...STEPS), { maxLength: 4 }),
    end: fc.constantFrom(...ENDS),
    odd: fc.option(fc.tuple(fc.nat(), fc.constantFrom(...ODD)), { freq: 3 }),
  })
  .map(({ origin, prefix, steps, end, odd }) => {
    const link = [origin, prefix, ...steps, end].join('')
    if (odd === null) return link
    const at = odd[0] % (link.length + 1)
    return link.slice(0, at) + odd[1] + link.slice(at)
  })

/** The link with the addresses of a run in it. */
function addressed(link: string, elsewhere: string, ours: string): string {
  return link.replaceAll('PORT', new URL(elsewhere).port).replaceAll('OURS', ours)
}

type Position = 'next link' | 'delta link' | 'redirect' | 'stored link'
const positions: readonly Position[] = ['next link', 'delta link', 'redirect', 'stored link']

/** A bookmark as a sync leaves it that was cut off behind its first page. */
let bookmark: object
beforeAll(async () => {
  const first = await runScenario(secondPage(() => reply(500, '')))
  // Each service has a port of its own, and a state of another address would start the stream over.
  const { service: _, ...others } = first.states(STREAM).at(-1) as { service: string }
  bookmark = others
})

function scenarioOf(link: string, position: Position): Scenario {
  const answer =
    (elsewhere: string): Scenario['api'] extends (_: string) => infer A ? A : never =>
    (asked, nth) => {
      const leads = addressed(link, elsewhere, asked.headers.get('host') ?? '')
      const isFirst = nth === 1 && asked.target.startsWith(LIST)
      if (position === 'redirect' && isFirst)
        return head(302, { location: leads.replace(/[\r\n\0]/g, ''), 'content-length': 0 })
      if (position === 'next link' && isFirst) return page([rowOf(1)], { nextLink: leads })
      if (position === 'delta link') return page([rowOf(1)], { deltaLink: leads })
      return page([rowOf(1)])
    }
  if (position === 'delta link') return { api: answer, stream: 'departments' }
  // Nobody knows the port of the run to come.
  const stored = addressed(link, 'http://127.0.0.1:9', '127.0.0.1:9')
  return position === 'stored link'
    ? { api: answer, bookmark: { ...bookmark, link: stored } }
    : { api: answer }
}

/** A path as a server may read it that decodes twice and knows parameters of segments. */
function pathOf(target: string): string {
  let path = target.split(/[?#]/)[0] ?? ''
  for (let i = 0; i < 3; i++)
    path = path.replace(/%([0-9a-f]{2})/gi, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
  return new URL(`http://x${path.replace(/;[^/\\]*/g, '').replaceAll('\0', '')}`).pathname
}

/** What holds of every run, whatever the service sends. */
function expectHeld(recording: ScenarioRun, collection: string): void {
  expectNoLeak(recording)
  const { errors, exitCode, service } = recording
  for (const { message } of errors)
    expect(message).not.toMatch(/Unexpected error in the connector|undefined|\[object/)
  expect(exitCode).toBe(errors.length === 0 ? 0 : 1)
  const asked = service.requests.filter(({ method }) => method !== 'POST')
  const places = [`${PREFIX}/${collection}`, `${PREFIX}/delta/${collection}`]
  const strays = asked.filter(({ target }) => {
    const path = pathOf(target)
    return !places.some((place) => path === place || path.startsWith(`${place}/`))
  })
  expect(strays.map(({ target }) => target)).toEqual([])
  expect(service.requests.filter(({ headers }) => headers.has('x-injected'))).toEqual([])
}

/** So many of the gate's, or as the night asks. */
function settings(usual: number) {
  const { runs, path } = runSettings(usual)
  return { numRuns: runs, ...(path === undefined ? {} : { path }) }
}

const PATIENT = { timeout: 3_600_000 }

it(
  'no link leads outside of its collection, to another host or into a header',
  PATIENT,
  async () => {
    const inputs = [links, fc.constantFrom(...positions)] as const
    const property = fc.asyncProperty(...inputs, async (link, position) => {
      const recording = await runScenario(scenarioOf(link, position))
      expectHeld(recording, position === 'delta link' ? 'departments' : 'job-categories')
    })
    await fc.assert(property, settings(25))
  },
)

/** Forms of the access token, each in place of one character, so that no edit cuts it. */
const SPOKEN: Readonly<Record<string, string>> = {
  '\ue000': TOKEN,
  '\ue001': `Bearer ${TOKEN}`,
  '\ue002': Buffer.from(TOKEN).toString('base64'),
  '\ue003': encodeURIComponent(TOKEN),
}

const PARTS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    '\\',
    '\\u',
    '\\ud800',
    '\0',
    '\u001b[2J',
    '\u202e',
    '\ufeff',
  ],
  ...['null', '1e999', '-', '01', '{"id":3}', '"value":[', '"id":', '"id":"3"', '"nextLink":null,'],
  ...[`"nextLink":"${SECOND}",`, '"deltaLink":7,', '"__proto__":{"id":9},', '"changeVersion":{},'],
  ...['[['.repeat(300), '"x":'.repeat(3), '9'.repeat(1100), `"${'y'.repeat(70_000)}":1,`],
  ...[...'\ue000\ue001\ue002\ue003'],
]

const edits = fc.array(
  fc.record({
    at: fc.nat(),
    gone: fc.constantFrom(0, 0, 1, 2, 9, 40),
    text: fc.constantFrom('', ...PARTS),
  }),
  { maxLength: 4 },
)

const answers = fc.record({
  edits,
  status: fc.constantFrom(
    ...[
      200, 200, 200, 200, 200, 200, 201, 204, 206, 304, 400, 401, 403, 404, 409, 410, 429, 500, 503,
    ],
  ),
  coding: fc.constantFrom('', '', '', 'gzip', 'br', 'deflate', 'zstd', '\u009b31m', 'gzip, gzip'),
  isMislabelled: fc.constantFrom(false, false, false, true),
  cut: fc.constantFrom(0, 0, 0, 1, 30),
  type: fc.constantFrom('application/json', 'text/html', '', 'application/json; charset=utf-16'),
  retryAfter: fc.constantFrom('', '', '0', '1', '-1', '9e99', 'Thu, 99 Foo', '\u001b[31m'),
})

const CODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  'gzip, gzip': (body) => gzipSync(gzipSync(body)),
}

function edited(text: string, changes: readonly { at: number; gone: number; text: string }[]) {
  return changes.reduce((left, change) => {
    const at = change.at % (left.length + 1)
    return left.slice(0, at) + change.text + left.slice(at + change.gone)
  }, text)
}

type HostileAnswer = typeof answers extends fc.Arbitrary<infer A> ? A : never

function wireOf({
  status,
  coding,
  isMislabelled,
  cut,
  type,
  retryAfter,
  edits: changes,
}: HostileAnswer) {
  const error = JSON.stringify({ error: { code: 'Odd', message: 'a word with \ue000 in it' } })
  const rows = [rowOf(3), rowOf(4)]
  const body = edited(status < 300 ? pageBody(rows, { nextLink: null }) : error, changes)
  const bytes = Buffer.from(body.replace(/[\ue000-\ue003]/g, (one) => SPOKEN[one] ?? ''))
  const coded = isMislabelled ? bytes : (CODERS[coding]?.(bytes) ?? bytes)
  const headers = {
    'content-type': type,
    'content-encoding': coding,
    'retry-after': retryAfter,
    connection: 'close',
  }
  const whole = reply(status, coded, headers)
  return (socket: import('node:net').Socket) =>
    void socket.end(whole.subarray(0, Math.max(1, whole.length - cut)))
}

it(
  'no answer breaks a rule of the protocol, takes back a page, or shows a secret',
  PATIENT,
  async () => {
    const property = fc.asyncProperty(answers, async (answer) => {
      const recording = await runScenario(secondPage(() => wireOf(answer)))
      expectHeld(recording, 'job-categories')
      expect(
        recording
          .records(STREAM)
          .slice(0, 2)
          .map(({ id }) => id),
      ).toEqual([1, 2])
    })
    await fc.assert(property, settings(25))
  },
)

const values = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, '', 0, -1, 1.5, 1e300, true, [], {}, '\0', '\u001b[2J', 'zAAAA', 'r', 'r////', '[]'],
    ...['[{"keys":"rAAAA"}]', '2026-99-99', '9999-12-31', '0000-01-01', 'x'.repeat(10_000)],
    { toString: 'x', __proto__: null },
  ),
  fc.json({ maxDepth: 2 }),
  links,
)

it(
  'no state breaks a sync, sends it elsewhere or keeps a row from being read',
  PATIENT,
  async () => {
    const changes = fc.array(fc.tuple(fc.nat(), values), { minLength: 1, maxLength: 4 })
    const property = fc.asyncProperty(changes, async (drawn) => {
      const names = ['service', ...Object.keys(bookmark)]
      const odd = drawn.map(([at, value]) => [names[at % names.length] as string, value] as const)
      const recording = await runScenario({
        // Whatever is gone is looked for by its id.
        api: () => (asked) =>
          asked.target.startsWith(`${LIST}/`) ? reply(404, '') : page([rowOf(1), rowOf(2)]),
        bookmark: { ...bookmark, ...Object.fromEntries(odd) },
      })
      expectHeld(recording, 'job-categories')
      expect(recording.errors).toEqual([])
      expect(recording.records(STREAM).map(({ id }) => id)).toEqual(expect.arrayContaining([1, 2]))
    })
    await fc.assert(property, settings(25))
  },
)
