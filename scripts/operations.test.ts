import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { metricsText } from '../src/protocol/progress/metrics-file.ts'
import type { SyncProgress } from '../src/protocol/progress/sync-progress.ts'

const page = readFileSync('docs/operations.md', 'utf8')

/** What has no part in a sync. */
const OTHERS =
  /\.test\.ts$|testing\/|page\/wasm|src\/(cli\/(?!sync)|client|webhooks|write|destination)|\/(destination-commands|target)\.ts|protocol\/write-run/

/** What the programs that sync are made of. */
const sources = filesOf('src', /\.ts$/)
  .filter((file) => !OTHERS.test(file))
  .map((file) => withEllipses(readFileSync(file, 'utf8')))

function filesOf(folder: string, name: RegExp): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return all.filter((file) => name.test(file)).map((file) => join(folder, file))
}

/** The messages of the runbook. */
const runbook = [...page.slice(page.indexOf('## Runbook')).matchAll(/^\| `(.+?)` \|/gm)].map(
  ([, message]) => String(message),
)

/** `…` for each value in a template, and nothing around a text that has several lines. */
function withEllipses(source: string): string {
  return source.replaceAll(/\$\{(?:[^{}`]|`[^`]*`)*\}/g, '…').replaceAll(/['`] \+\n\s*['`]/g, '')
}

/** The parts of a message that are always the same. */
function partsOf(message: string): string[] {
  return message.split('…').filter((part) => part.trim().length > 3)
}

describe('the runbook', () => {
  it.each(runbook)('has a message that the code says: %s', (message) => {
    const isSaid = sources.some((source) => partsOf(message).every((part) => source.includes(part)))
    expect(isSaid).toBe(true)
  })

  it('has every failure and warning that the code says', () => {
    const said = sources.flatMap((source) => [
      ...source.matchAll(/(?:new ConnectorError\(\s*'\w+',|\.warn\()\s*(?:`([^`]+)`|'([^']+)')/g),
    ])
    const messages = said.map(([, template, text]) => template ?? text ?? '')
    // What begins with a value has its words in that value; a name and a colon are none of the message.
    const whole = messages.filter(
      (message) => !/^…[ ,]/.test(message) && partsOf(message).join('').length > 20,
    )
    expect(whole.length).toBeGreaterThan(40)
    const isKnown = (message: string) =>
      runbook.some((known) => partsOf(known).every((part) => message.includes(part)))
    expect(whole.filter((message) => !isKnown(message))).toEqual([])
  })
})

describe('the metrics', () => {
  it('of the page are those of the file', () => {
    const stream = { name: 'x', status: 'complete', counts: {}, seconds: 1 }
    const sync = {
      labels: {},
      streams: [stream],
      traffic: {},
      seconds: 1,
    } as unknown as SyncProgress
    const outcome = { failures: [] }
    const facts = { completions: new Map(), prefix: 'protime_sync', program: 'x', at: new Date() }
    const text = metricsText({ sync, outcome, ...facts })
    const written = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    const named = [...page.matchAll(/protime_sync_\w+/g)].map(([name]) => name)
    expect(new Set(named)).toEqual(new Set(written))
  })
})

it('every example of what a sync shows is what a test has seen', () => {
  const tests = [
    ...filesOf('src/protocol/progress', /\.test\.ts$/),
    'integration-tests/progress.test.ts',
  ].map((file) => readFileSync(file, 'utf8'))
  const examples = [...page.matchAll(/```text\n([\s\S]*?)\n```/g)].map(([, text]) => String(text))
  expect(examples.length).toBeGreaterThan(3)
  for (const example of examples) {
    const isSeen = (text: string) => tests.some((test) => test.includes(text))
    expect(isSeen(example) || example.split('\n').every(isSeen), example).toBe(true)
  }
})
