import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { runProtime } from '../src/cli/main.ts'
import { startService } from './demo/service.ts'

/**
 * `npm run picture`: draws `docs/sync.svg`, which shows the output of two syncs of an emulated tenant in a terminal, with a
 * day of work between them. `node dist/scripts/picture.js FILE PEOPLE MONTHS` draws another file, for another tenant.
 */
const [file = 'docs/sync.svg', people = '60', months = '6'] = process.argv.slice(2)

/** The lines of the summary that are drawn; the other streams are `...`. */
const SHOWN = /^(stream|absences|calculated_totals|clockings|people|total) |^\d+ requests|^\{/
const LINE_PX = 20
const COLUMN_PX = 8.5
const EDGE_PX = 24
const CHANGES = { inserts: 200, updates: 120, deletes: 40 }

async function main(signal: AbortSignal): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'picture-'))
  const size = { people: Number(people), months: Number(months), pageSize: 500 }
  const service = await startService(size, signal)
  try {
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify(await service.config()), { mode: 0o600 })
    const words = ['sync', '--config', config, '--warehouse', join(folder, 'protime.duckdb')]
    const first = await shownOf(words)
    await service.tell('/changes', CHANGES)
    await service.tell('/advance', { hours: 24 })
    const second = await shownOf(words)
    writeFileSync(file, svg(['$ protime sync', ...first, '', '$ protime sync', ...second]))
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The lines on the screen of a terminal after a command has ended, with `...` for those that are left out. */
async function shownOf(words: readonly string[]): Promise<readonly string[]> {
  let written = ''
  const collect = () =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.toString()
        done()
      },
    })
  const terminal = Object.assign(collect(), { isTTY: true, columns: 100, rows: 40 })
  const exitCode = await runProtime(words, { stdout: collect(), stderr: terminal, env: {} })
  if (exitCode !== 0) throw new Error(`protime ended with ${exitCode}:\n${written}`)
  // The block that shows the progress is erased before the summary is written.
  const erase = '\u001b[J'
  const summary = written.slice(written.lastIndexOf(erase) + erase.length).trimEnd()
  const lines = summary.split('\n').map((line) => (SHOWN.test(line) ? line : '...'))
  return lines.filter((line, i) => line !== '...' || lines[i - 1] !== '...')
}

/** Lines of text as a terminal shows them; lines with a prompt are highlighted. */
function svg(lines: readonly string[]): string {
  const width = Math.ceil(Math.max(...lines.map(({ length }) => length)) * COLUMN_PX) + 2 * EDGE_PX
  const height = lines.length * LINE_PX + 2 * EDGE_PX
  const texts = lines.map((line, i) => {
    const y = EDGE_PX + (i + 0.75) * LINE_PX
    const color = line.startsWith('$') ? '#7ee787' : '#e6edf3'
    return `  <text x="${EDGE_PX}" y="${y}" fill="${color}" xml:space="preserve">${escaped(line)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
  <title>Two syncs of an emulated tenant, in a terminal</title>
  <rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${texts.join('\n')}
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
await main(stop.signal)
