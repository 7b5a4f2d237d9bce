import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OTHER_FAILURES, SYNC_FAILURES, SYNC_WARNINGS } from '../src/ground/message-ids.ts'
import { metricsText } from '../src/protocol/progress/metrics-file.ts'
import type { SyncProgress } from '../src/protocol/progress/sync-progress.ts'

const page = readFileSync('docs/operations.md', 'utf8')

function filesOf(folder: string, name: RegExp): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return all.filter((file) => name.test(file)).map((file) => join(folder, file))
}

const sources = filesOf('src', /(?<!\.test)\.ts$/)
  .filter((file) => file !== 'src/ground/message-ids.ts')
  .map((file) => withEllipses(readFileSync(file, 'utf8')))

/** `…` for each value in a template, and nothing around a text that has several lines. */
function withEllipses(source: string): string {
  return source.replaceAll(/\$\{(?:[^{}`]|`[^`]*`)*\}/g, '…').replaceAll(/['`] \+\n\s*['`]/g, '')
}

/** The parts of a message that are always the same. */
function partsOf(message: string): string[] {
  return message.split('…').filter((part) => part.trim().length > 3)
}

/** The rows of the runbook below a heading: id and message. */
function rowsOf(heading: string): { id: string; message: string }[] {
  const [, section = ''] = page.split(`\n### ${heading}`)
  const [rows = ''] = section.split('\n#')
  return [...rows.matchAll(/^\| <a id="([\w-]+)"><\/a>`(.+?)` \|/gm)].map(([, id, message]) => ({
    id: String(id),
    message: String(message),
  }))
}

const SECTIONS = [
  ['Failures of the kind config', SYNC_FAILURES.config],
  ['Failures of the kind transient', SYNC_FAILURES.transient],
  ['Failures of the kind system', SYNC_FAILURES.system],
  ['Warnings', SYNC_WARNINGS],
] as const

describe('the runbook', () => {
  it.each(SECTIONS)('%s: has a row for each message of a sync, and no other', (heading, ids) => {
    expect(
      rowsOf(heading)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([...ids].toSorted())
  })

  it.each(SECTIONS.flatMap(([heading]) => rowsOf(heading)))(
    'has the words of $id as the code says them',
    ({ message }) => {
      const isSaid = sources.some((source) =>
        partsOf(message).every((part) => source.includes(part)),
      )
      expect(isSaid).toBe(true)
    },
  )

  it('has no row for a message that is never printed', () => {
    const ids = [...SECTIONS.flatMap(([, ids]) => [...ids]), ...OTHER_FAILURES]
    const isUsed = (id: string) => sources.some((source) => source.includes(`'${id}'`))
    expect(ids.filter((id) => !isUsed(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('the metrics', () => {
  it('of the page and of the dashboard are those of the file', () => {
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
    const namesIn = (source: string) =>
      new Set([...source.matchAll(/protime_sync_\w+/g)].map(([name]) => name))
    expect(namesIn(page)).toEqual(new Set(written))
    expect(namesIn(readFileSync('docs/grafana.json', 'utf8'))).toEqual(new Set(written))
  })
})

it('every example output of a sync is checked by a test', () => {
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
