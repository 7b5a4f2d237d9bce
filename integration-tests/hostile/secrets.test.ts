import { describe, expect, it } from 'vitest'
import { expectNoLeak } from './expectations.ts'
import type { Answers, Wire } from './raw-service.ts'
import {
  DELTA_TOKEN,
  LIST,
  PREFIX,
  runScenario,
  SECRET,
  secondPage,
  TOKEN,
  token,
} from './scenario.ts'
import { head, page, reply, rowOf } from './wire.ts'

const FILLER = 'x'.repeat(490)
const DELTA = `${PREFIX}/delta/departments?deltaToken=${DELTA_TOKEN}`

/** Ways in which a service says again what it was told: `one` secret, or `all` of them in one text. */
const echoes: (readonly [name: string, wire: (all: string, one: string) => Wire])[] = [
  ['an error in plain text', (all) => reply(405, all)],
  [
    'an error in JSON',
    (all) => reply(405, JSON.stringify({ error: { message: all, reasons: [all] } })),
  ],
  ['an error with escapes in it', (all) => reply(405, `{"message":"${escaped(all)}"}`)],
  [
    'an error in form encoding',
    (all) => reply(405, new URLSearchParams({ secret: all }).toString()),
  ],
  ['an error in another form encoding', (all) => reply(405, encodeURIComponent(all))],
  ['an error of several lines', (all) => reply(405, all.replaceAll(' ', '\r\n'))],
  ['an error that is cut in the middle of it', (_all, one) => reply(405, `${FILLER}${one}`)],
  ['an error that is cut a little later', (_all, one) => reply(405, `${FILLER.slice(8)}${one}`)],
  ['an error page', (all) => reply(405, `<p title="${all}">${all}</p>`)],
  ['a page in plain text', (all) => reply(200, `Welcome, holder of ${all}`)],
  ['a page that begins with it', (all) => reply(200, all)],
  ['a web page', (all) => reply(200, `<html lang="${all}">`)],
  ['JSON that is not a page', (all) => reply(200, JSON.stringify(all))],
  ['names of members', (all) => reply(200, JSON.stringify({ [all]: 1 }))],
  ['a status line', (_all, one) => reply(`405 ${one}`, '')],
  ['a header', (_all, one) => head(405, { 'x-token': one, 'content-length': 0 })],
  ['an encoding', (_all, one) => reply(200, 'x', { 'content-encoding': `a ${one}` })],
  ['a retry time', (_all, one) => reply(503, '', { 'retry-after': one })],
  ['a redirect', (_all, one) => head(302, { location: `/${one}/${one}`, 'content-length': 0 })],
  [
    'a redirect in the API',
    (_all, one) => head(302, { location: `${PREFIX}/${one}`, 'content-length': 0 }),
  ],
  ['a next link', (_all, one) => page([], { nextLink: `https://${one}.example/${one}` })],
  [
    'a next link in the API',
    (_all, one) => page([], { nextLink: `${PREFIX}/${encodeURIComponent(one)}` }),
  ],
  ['a damaged status line', (_all, one) => `HTTP/1.1 ${one}\r\n\r\n`],
  ['a damaged header', (_all, one) => `HTTP/1.1 200 X\r\n${one}\r\n\r\n`],
  [
    'a damaged chunk',
    (_all, one) => `HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n${one}\r\n`,
  ],
]

describe('a secret that the service says again stays untold', () => {
  it.each(echoes)('in %s', async (_name, wire) => {
    const recording = await runScenario({
      // What a link in the API leads to is not there.
      api: () => (asked) =>
        asked.target === LIST
          ? wire(`${SECRET} ${TOKEN}`, TOKEN)
          : reply(404, `No ${decodeURIComponent(asked.target)}`),
    })
    expect(recording.exitCode).toBe(1)
    expectNoLeak(recording)
  })

  it.each(echoes)('in %s of the token endpoint', async (_name, wire) => {
    const recording = await runScenario({
      api: () => () => page([]),
      token: () => () => wire(SECRET, SECRET),
    })
    expect(recording.exitCode).toBe(1)
    expectNoLeak(recording)
  })

  it.each(echoes)('in %s of a delta link', async (_name, wire) => {
    const recording = await runScenario({
      stream: 'departments',
      api: deltaThat(wire(`${SECRET} ${TOKEN} ${DELTA_TOKEN}`, DELTA_TOKEN)),
    })
    expect(recording.states('departments').length).toBeGreaterThan(0)
    expectNoLeak(recording)
  })

  it.each(echoes)('in %s to a check', async (_name, wire) => {
    const recording = await runScenario({
      command: 'check',
      api: () => () => wire(`${SECRET} ${TOKEN}`, SECRET),
    })
    expectNoLeak(recording)
  })

  it('when it was minted later', async () => {
    const second = 'the-second-token-of-this-run'
    let tokens = 0
    const recording = await runScenario({
      ...secondPage(() => reply(403, `Bearer ${second} may not`)),
      token: () => () => token(tokens++ > 0 ? { access_token: second } : {}),
    })
    expect(recording.exitCode).toBe(1)
    expect(recording.stdout).not.toContain(second)
  })
})

function deltaThat(wire: Wire): (elsewhere: string) => Answers {
  return () => (asked) => {
    if (asked.target.includes('deltaToken')) return wire
    return page([rowOf(1)], { deltaLink: DELTA })
  }
}

function escaped(text: string): string {
  return [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}
