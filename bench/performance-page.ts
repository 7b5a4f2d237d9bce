import { writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { PROJECT } from './connector.ts'
import { further, type Medians } from './measure.ts'
import { type PeerCosts, peerCosts } from './scenarios/peers.ts'
import { COMMANDS, startCosts } from './scenarios/start.ts'
import {
  compressedCosts,
  costsOf,
  PROGRAMS,
  REDACTIONS,
  redactionCosts,
} from './scenarios/throughput.ts'

const HEAD = ['', 'records/s', 'CPU s per million', 'peak MB', 'time beside ours'] as const

/** `npm run bench:table` measures on this machine and writes docs/performance.md and the chart in it. */
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

  const page = `# Performance

This page is written by \`npm run bench:table\`; \`bench/\` shows what is measured, and how. All traffic is on loopback, and the
programs of one table took turns. The seconds are those of one machine: compare only within a table.

${machine(busy)}

The *conventional* program parses each page and serialises each record, as other connectors do, and is well written. The *floors* download and
write as many bytes without looking at them.

![Records per second](performance.svg)

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

## A service that compresses its answers

${table(['plain', 'gzip', 'brotli'], 1, packed, 'plain')}
${others.map(beside).join('')}`

  writeFileSync(join(PROJECT, 'docs/performance.md'), page)
  writeFileSync(join(PROJECT, 'docs/performance.svg'), performanceChart(page))
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
      String(Math.round((millions * 1e6) / of(name, 'seconds'))),
      (of(name, 'cpuSeconds') / millions).toFixed(2),
      of(name, 'peakMegabytes').toFixed(0),
      (of(name, 'seconds') / of(first, 'seconds')).toFixed(2),
    ]),
  )
}

function beside({ name, few, many }: PeerCosts): string {
  const more = further(few, many)
  const body = rows(
    ['', 'records/s', 'CPU s per million', 'peak MB', 'each further million: s', 'CPU s'],
    (['ours', 'peer'] as const).map((one) => [
      one === 'ours' ? one : name,
      String(Math.round((many.millions * 1e6) / many.of(one, 'seconds'))),
      (many.of(one, 'cpuSeconds') / many.millions).toFixed(2),
      many.of(one, 'peakMegabytes').toFixed(0),
      more(one, 'seconds').toFixed(2),
      more(one, 'cpuSeconds').toFixed(2),
    ]),
  )
  return `\n## ${(many.millions * 1e6).toLocaleString('en')} records, beside ${name}\n\n${body}\n`
}

function rows(head: readonly string[], body: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

const WIDTH_PX = 720
const LABEL_PX = 190
const BAR_PX = 28
const GAP_PX = 12
const HEAD_PX = 48

/** A program and its throughput. */
interface Bar {
  readonly name: string
  readonly recordsPerSecond: number
}

/** The throughput of eight million records, as docs/performance.md has it in a table, as a chart in SVG. */
export function performanceChart(page: string): string {
  const bars = barsOf(page)
  const most = Math.max(...bars.map(({ recordsPerSecond }) => recordsPerSecond))
  const scale = (WIDTH_PX - LABEL_PX - 110) / most
  const height = HEAD_PX + bars.length * (BAR_PX + GAP_PX)
  const lines = bars.map(({ name, recordsPerSecond }, i) => {
    const y = HEAD_PX + i * (BAR_PX + GAP_PX)
    const width = Math.round(recordsPerSecond * scale)
    const middle = y + BAR_PX * 0.68
    return `  <text x="${LABEL_PX - 10}" y="${middle}" text-anchor="end">${name}</text>
  <rect x="${LABEL_PX}" y="${y}" width="${width}" height="${BAR_PX}" rx="3" fill="${i === 0 ? '#1a7f64' : '#8c959f'}"/>
  <text x="${LABEL_PX + width + 8}" y="${middle}">${recordsPerSecond.toLocaleString('en')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH_PX} ${height}" width="${WIDTH_PX}" font-family="system-ui, sans-serif" font-size="14" fill="#1f2328">
  <title>Records per second, eight million records</title>
  <rect width="100%" height="100%" rx="8" fill="#ffffff"/>
  <text x="16" y="28" font-weight="600">Records per second, eight million records</text>
${lines.join('\n')}
</svg>
`
}

function barsOf(page: string): Bar[] {
  const [, section = ''] = page.split('\n## Eight million\n')
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| ([^|]+) \| (\d+) \|/gm)]
  if (rows.length < 2) throw new Error('docs/performance.md has no table of eight million records')
  return rows.map(([, name = '', number]) => ({ name, recordsPerSecond: Number(number) }))
}

if (process.argv[1] === import.meta.filename) await writePage()
