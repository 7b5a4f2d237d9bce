import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import type { FailureType } from '../src/ground/errors.ts'
import { ALERTS, FAILURES } from '../src/ground/message-ids.ts'
import { RUNBOOK_SECTIONS, runbookRows, runbookUrl } from '../src/ground/runbook.ts'
import { metricsText } from '../src/protocol/progress/metrics-file.ts'
import type { SyncProgress } from '../src/protocol/progress/sync-progress.ts'

const ABSENT =
  /\b(?:api|design|specification)\.md\b|\bcollections\.json\b|\bdesign (?:D|section )\d+|\(specification, ["]/g
const PRESENT = /\bdocs\/[\w/-]+\.md(?:, "[^"]+")?/g

/** The tracked files whose names match. */
function tracked(...patterns: readonly string[]): string[] {
  const files = String(execFileSync('git', ['ls-files', '-z', ...patterns])).split('\0')
  return files.filter(existsSync)
}

/** The citations in tracked files that match a pattern, as `file: citation`. A citation may span two lines. */
function citations(pattern: RegExp): string[] {
  return tracked('*.ts', '*.mjs', '*.md', '*.json', '*.yml').flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/\n\s*(?:\*|\/\/)?\s*/g, ' ')
    return [...text.matchAll(pattern)].map(([found]) => `${file}: ${found}`)
  })
}

it('no file cites a document that the repository does not have', () => {
  expect(citations(ABSENT)).toEqual([])
})

it('every document and section that a file cites exists', () => {
  const wrong = citations(PRESENT).filter((citation) => {
    const [, path = '', , section = ''] = /: (docs\/[^,]+)(, "([^"]+)")?$/.exec(citation) ?? []
    return !existsSync(path) || !headings(path).includes(section)
  })
  expect(wrong).toEqual([])
})

it('every source file that a document or a comment names exists', () => {
  const sources = tracked('*.ts', '*.mjs').map((file) => `/${file}`)
  const named = [
    ...namesIn(tracked('*.md'), /`([\w/.-]+\.(?:ts|mjs))`/g),
    ...namesIn(tracked('*.ts', '*.mjs'), /^\s*(?:\/?\*|\/\/).*?\b([\w/-][\w/.-]*\.(?:ts|mjs))\b/gm),
  ]
  expect(named.length).toBeGreaterThan(50)
  expect(
    named.filter(({ name }) => !sources.some((source) => source.endsWith(`/${name}`))),
  ).toEqual([])
})

/** The matches of a pattern's first group in files. */
function namesIn(files: readonly string[], pattern: RegExp) {
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, name]) => ({ file, name })),
  )
}

/** The headings of a document without numbers and anchors. The empty text stands for the whole document. */
function headings(path: string): string[] {
  const lines = readFileSync(path, 'utf8').matchAll(/^#+ (?:[\d.]+ )?(?:<a[^>]*><\/a>)?(.*)$/gm)
  return ['', ...[...lines].map(([, heading = '']) => heading)]
}

const security = readFileSync('docs/security.md', 'utf8')
const tested = readFileSync('integration-tests/README.md', 'utf8')

/** The rows of the table after a mark of a document, without its head. Each row is a list of cells. */
function table(mark: string, document = security): string[][] {
  const [, inside = ''] = document.split(`<!-- ${mark} -->`)
  const [rows = ''] = inside.split('<!-- end -->')
  const lines = rows.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

const quoted = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, inner = '']) => inner)

describe('docs/security.md', () => {
  it('names an existing test for each promise', () => {
    const promises = table('promises', tested)
    expect(promises.length).toBeGreaterThan(20)
    const missing = promises.filter(([, file, title]) => {
      const [[path = ''], [words = '']] = [quoted(file), quoted(title)]
      return !existsSync(path) || words === '' || !readFileSync(path, 'utf8').includes(words)
    })
    expect(missing).toEqual([])
  })

  it('names the hosts that a configuration leads to, for the firewall', () => {
    const told = table('egress').map(([environment, hosts]) => [
      ...quoted(environment),
      quoted(hosts),
    ])
    const asked = ['production', 'sandbox'].map((type) => {
      const client = { client_id: 'a', client_secret: 'a secret of acme' }
      const { baseUrl, authUrl } = parseConfig({ tenant: 'acme', environment: { type }, ...client })
      const hosts = [baseUrl, authUrl].map((address) => new URL(address).hostname)
      return [type, hosts.map((host) => host.replace('acme', '<tenant>'))]
    })
    expect(told.slice(0, -1)).toEqual(asked)
  })

  it('verifies a signature of the workflow that signs', () => {
    const [, workflow = ''] =
      /certificate-identity \S+\/source-protime\/(\.github\S+)@/.exec(security) ?? []
    expect(readFileSync(workflow, 'utf8')).toContain(' sign --yes ')
  })
})

/** The variables of this project that a file names. */
const variables = (file: string) => {
  const text = readFileSync(file, 'utf8')
  return new Set(text.match(/\bPROTIME_[A-Z_]+\b/g))
}

/** Only tests need a shorter interval. */
const OF_TESTS = 'PROTIME_SENSOR_SECONDS'

describe('docs/many-tenants.md', () => {
  it('names every variable of the Dagster project, and no other', () => {
    const known = variables('deploy/dagster/protime_tenants.py')
    known.delete(OF_TESTS)
    expect(variables('docs/many-tenants.md')).toEqual(known)
  })
})

/** The words that are accepted everywhere, and those that only tests may write. */
const { words: everywhere, overrides } = JSON.parse(readFileSync('cspell.json', 'utf8')) as {
  words: string[]
  overrides: { words?: string[] }[]
}
const inTests = overrides.flatMap(({ words = [] }) => words)

it('the accepted words are sorted, and each is in one list', () => {
  expect(everywhere).toEqual(everywhere.toSorted())
  expect(inTests).toEqual(inTests.toSorted())
  expect(inTests.filter((word) => everywhere.includes(word))).toEqual([])
})

const page = readFileSync('docs/monitoring.md', 'utf8')

function filesOf(folder: string, name: RegExp): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return all.filter((file) => name.test(file)).map((file) => join(folder, file))
}

/** Files that are no tests. */
const CODE = /(?<!\.(test|thorough))\.ts$/
const sources = filesOf('src', CODE)
  .filter((file) => file !== 'src/ground/message-ids.ts')
  .map((file) => withEllipses(readFileSync(file, 'utf8')))

/** A source with `…` for each value in a template, and with texts of several lines joined. */
function withEllipses(source: string): string {
  return source.replaceAll(/\$\{(?:[^{}`]|`[^`]*`)*\}/g, '…').replaceAll(/['`] \+\n\s*['`]/g, '')
}

/** The constant parts of a message. */
function partsOf(message: string): string[] {
  return message.split('…').filter((part) => part.trim().length > 3)
}

const ids = RUNBOOK_SECTIONS.flatMap(([, of]) => of)
const messages = [...runbookRows()].filter(([id]) => !ALERTS.some((alert) => alert === id))

describe('the runbook', () => {
  it('has a row for each id, and no other', () => {
    expect([...runbookRows().keys()].toSorted()).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
  })

  it.each(messages)('has the words of %s as the code says them', (_id, { says, do: advice }) => {
    const isSaid = sources.some((source) => partsOf(says).every((part) => source.includes(part)))
    expect([partsOf(says).length > 0, isSaid, advice !== '']).toEqual([true, true, true])
  })

  it('lists each failure under the type with which it is thrown', () => {
    const thrown = sources.flatMap((source) => [
      ...source.matchAll(/(?:\(\s*|failure: )'(config|transient|system)',\s*(?:id: )?'([\w-]+)'/g),
    ])
    expect(thrown.length).toBeGreaterThan(150)
    const isListed = (type: string, id: string) =>
      id.startsWith('x-') || FAILURES[type as FailureType].some((one) => one === id)
    expect(
      thrown.filter(([, type = '', id = '']) => !isListed(type, id)).map(([text]) => text),
    ).toEqual([])
  })

  it('has no row for a message that is never printed', () => {
    const isUsed = (id: string) => sources.some((source) => source.includes(`'${id}'`))
    expect(messages.map(([id]) => id).filter((id) => !isUsed(id))).toEqual([])
  })

  it('has a row to which each alert leads', () => {
    const alerts = [...page.matchAll(/- alert: (\w+)\n(?: {8}.*\n)*? {10}runbook_url: (\S+)\n/g)]
    expect(alerts.map(([, name]) => name)).toEqual(ALERTS)
    expect(alerts.map(([, , url]) => url)).toEqual(ALERTS.map(runbookUrl))
    expect(page.match(/^ +- alert: /gm)).toHaveLength(ALERTS.length)
  })
})

/** Words that messages use for something else in the field, or that no one says; each pattern says what it is. */
const UNUSUAL: readonly [RegExp, instead: string][] = [
  [/\banswer(?:s|ed) (?:it )?(?:by |with )?[1-5]\d\d\b|\bcompresses its answers\b/, 'responds'],
  [/\banswers? (?:of|from) (?:the (?:service|token endpoint)|HOST|\$\{host\})/, 'response'],
  [/\b(?:service|endpoint|proxy|server|Airbyte) answer(?:s|ed) (?:with|in|\d|\$\{)/, 'responds'],
  [/\bcomes twice\b|\bhas the member \S+ twice\b/, 'duplicate key'],
  [/\bhalf a character\b/, 'an unpaired surrogate'],
  [/\bsecond look\b/, 'recheck'],
  [/\bcounts as read\b/, 'the page was discarded'],
  [/\bby lists alone\b/, 'full list, no delta'],
  [/\bfailures of the kind\b/i, 'configuration error, transient failure'],
  [/\b(?:is|are|been|not) read to (?:its|the) end\b/, 'completed'],
  [/\ba person has to act\b/i, 'needs manual action'],
  [/\bgets too many requests\b|\basks to wait (?:\d|\$\{)/, 'too many requests, requires a wait'],
  [/\basks for a password\b/, 'requires a password'],
  [/\bgave no token\b/, 'returned no token'],
  [/\b(?:table|store) (?:is|was) gone\b/, 'dropped, deleted, no longer exists'],
  [
    /\b(?:the|tell its|ask its) operator\b(?! of the\s+service| or is| \$\{)/i,
    'the operator of the service, or you',
  ],
]

/** A source without its comments. */
function code(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
}

/** What users see: the messages and help texts in the code, without its comments, the texts in the JSON files, and the documents. */
const shown = [
  ...['src', 'emulator'].flatMap((folder) => filesOf(folder, CODE)).map(code),
  ...[
    ...['spec.json', 'write-settings.json', 'runbook.json', ...filesOf('schemas', /\.json$/)],
    ...tracked('*.md'),
  ].map((file) => readFileSync(file, 'utf8')),
]

it.each(UNUSUAL)('no message or document says %s', (pattern) => {
  expect(shown.flatMap((text) => text.match(pattern) ?? [])).toEqual([])
})

/** The folders whose messages are printed by the programs of Airbyte, by those of Singer and by `protime`. */
const OF_ALL_PROGRAMS = ['sync', 'http', 'pages', 'ask', 'config'].map((name) => join('src', name))

it('no message that several programs print names an option or a command of one of them', () => {
  const texts = OF_ALL_PROGRAMS.flatMap((folder) => filesOf(folder, CODE)).map(code)
  expect(texts.length).toBeGreaterThan(50)
  expect(texts.flatMap((text) => text.match(/--[a-z][a-z-]+|\bprotime [a-z]+/g) ?? [])).toEqual([])
})

describe('the metrics', () => {
  it('of the page are in the file, and the dashboard shows all of them', () => {
    const stream = { name: 'x', status: 'complete', counts: {}, requests: 1, seconds: 1 }
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
    expect([...namesIn(page)].filter((name) => !written.includes(name))).toEqual([])
    expect(namesIn(readFileSync('docs/grafana.json', 'utf8'))).toEqual(new Set(written))
  })
})

it('every example output of a sync is checked by a test', () => {
  const tests = [
    ...filesOf('src/protocol/progress', /\.test\.ts$/),
    'integration-tests/protime/progress.test.ts',
  ].map((file) => readFileSync(file, 'utf8'))
  const examples = [...page.matchAll(/```text\n([\s\S]*?)\n```/g)].map(([, text]) => String(text))
  expect(examples.length).toBeGreaterThan(3)
  for (const example of examples) {
    const isSeen = (text: string) => tests.some((test) => test.includes(text))
    expect(isSeen(example) || example.split('\n').every(isSeen), example).toBe(true)
  }
})
