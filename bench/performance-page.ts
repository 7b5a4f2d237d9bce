import { writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { PROJECT } from './connector.ts'
import { further, type Judged, type Medians } from './measure.ts'
import { firstSync } from './scenarios/first-sync.ts'
import { type PeerCosts, peerCosts } from './scenarios/peers.ts'
import { postgres } from './scenarios/postgres.ts'
import { COMMANDS, startCosts } from './scenarios/start.ts'
import {
  compressedCosts,
  costsOf,
  PROGRAMS,
  REDACTIONS,
  redactionCosts,
} from './scenarios/throughput.ts'
import { warehouse } from './scenarios/warehouse.ts'

const HEAD = ['', 'records/s', 'CPU s/million', 'peak MB', 'time beside ours'] as const

/** `npm run bench:table` measures on this machine and writes docs/performance.md. */
async function writePage(): Promise<void> {
  const [busy = 0] = loadavg()
  const starts = await startCosts()
  const one = await costsOf(1)
  const eight = await costsOf(8, 3)
  const more = further({ of: one, millions: 1 }, { of: eight, millions: 8 })
  const packed = await compressedCosts()
  const redacted = await redactionCosts()
  const others: PeerCosts[] = []
  for await (const costs of peerCosts()) others.push(costs)

  const said: string[] = []
  for (const [title, scenario] of Object.entries(SCENARIOS))
    said.push(`\n## ${title}\n\n\`\`\`text\n${(await linesOf(scenario)).join('\n')}\n\`\`\`\n`)

  const page = `# Performance

Written by \`npm run bench:table\`. All traffic is on loopback, and the programs of one table took turns: compare only within a table.

${machine(busy)}

The *conventional* program parses each page and serialises each record, as other connectors do. The *floors* download and write as many bytes
without looking at them.

## Start-up

${rows(
  ['', 'seconds', 'CPU s', 'peak MB'],
  COMMANDS.map((name) => [
    name,
    starts(name, 'seconds').toFixed(2),
    starts(name, 'cpuSeconds').toFixed(2),
    starts(name, 'peakMegabytes').toFixed(0),
  ]),
)}

## A million records in pages of a thousand, start-up included

${table(PROGRAMS, 1, one)}

## Eight million

${table(PROGRAMS, 8, eight)}

## Each further million

${rows(
  ['', 'seconds', 'CPU s'],
  PROGRAMS.map((name) => [
    name,
    more(name, 'seconds').toFixed(2),
    more(name, 'cpuSeconds').toFixed(2),
  ]),
)}

## Records whose personal data is redacted, each further million

${rows(
  ['', 'CPU s', 'speed beside untouched'],
  REDACTIONS.map((name) => [
    name,
    redacted.further(name).toFixed(2),
    (redacted.further('untouched') / redacted.further(name)).toFixed(2),
  ]),
)}

## A service that compresses its responses

${table(['plain', 'gzip', 'brotli'], 1, packed, 'plain')}
${others.map(beside).join('')}${said.join('')}`

  writeFileSync(join(PROJECT, 'docs/performance.md'), page)
}

/** What these scenarios print is shown as it is. */
const SCENARIOS = {
  '`protime sync` into DuckDB': warehouse,
  '`protime sync` into PostgreSQL': postgres,
  'A first sync of all streams': firstSync,
}

async function linesOf(scenario: () => AsyncIterable<string | Judged>): Promise<string[]> {
  const lines: string[] = []
  for await (const told of scenario())
    lines.push(typeof told === 'string' ? told : `${told.isMet ? '' : 'MISSED '}${told.line}`)
  return lines
}

function machine(busy: number): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `Machine: ${cpus().length} processors (${cpu?.model.trim()}), ${memory} GB, ${process.platform} ${process.arch}, Node ${process.versions.node}. Other work on it: a load of ${busy.toFixed(0)} at the beginning, which slows seconds more than CPU seconds.`
}

function table<Name extends string>(
  names: readonly Name[],
  millions: number,
  of: Medians<Name>,
  first: Name = names[0] as Name,
): string {
  return rows(
    HEAD,
    names.map((name) => [
      name,
      String(recordsPerSecond(millions, of, name)),
      (of(name, 'cpuSeconds') / millions).toFixed(2),
      of(name, 'peakMegabytes').toFixed(0),
      (of(name, 'seconds') / of(first, 'seconds')).toFixed(2),
    ]),
  )
}

function beside({ name, few, many }: PeerCosts): string {
  const more = further(few, many)
  const body = rows(
    ['', 'records/s', 'CPU s/million', 'peak MB', 'each further million: s', 'CPU s'],
    (['ours', 'peer'] as const).map((one) => [
      one === 'ours' ? one : name,
      String(recordsPerSecond(many.millions, many.of, one)),
      (many.of(one, 'cpuSeconds') / many.millions).toFixed(2),
      many.of(one, 'peakMegabytes').toFixed(0),
      more(one, 'seconds').toFixed(2),
      more(one, 'cpuSeconds').toFixed(2),
    ]),
  )
  return `\n## ${(many.millions * 1e6).toLocaleString('en')} records, beside ${name}\n\n${body}\n`
}

/** Columns that are aligned: numbers, and names in front of them. */
function rows(head: readonly string[], body: readonly (readonly string[])[]): string {
  const all = [head, ...body]
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  const lines = all.map((row) =>
    row
      .map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)))
      .join('  '),
  )
  return `\`\`\`text\n${lines.join('\n')}\n\`\`\``
}

function recordsPerSecond<Name extends string>(
  millions: number,
  of: Medians<Name>,
  name: Name,
): number {
  return Math.round((millions * 1e6) / of(name, 'seconds'))
}

await writePage()
