// A platform in small, for `--run`: one sync from the state of the last good one. What it said counts
// when it has ended, in one file per sync, with its state as the last line.
//   node sync.mjs FOLDER    (config.json and catalog.json are there)
import { spawnSync } from 'node:child_process'
import { existsSync, openSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [folder] = process.argv.slice(2)
const file = (name) => join(folder, name)
const program = fileURLToPath(new URL('../../bin/source-protime', import.meta.url))
const state = existsSync(file('state.json')) ? ['--state', file('state.json')] : []
const said = file(`sync.${process.pid}.part`)
const { status } = spawnSync(
  program,
  ['read', '--config', file('config.json'), '--catalog', file('catalog.json'), ...state],
  { stdio: ['ignore', openSync(said, 'w'), 'ignore'] },
)
if (status !== 0) process.exit(status ?? 1)
const states = new Map(
  existsSync(file('state.json'))
    ? JSON.parse(readFileSync(file('state.json'), 'utf8')).map((one) => [nameOf(one), one])
    : [],
)
for (const line of readFileSync(said, 'utf8').split('\n')) {
  const { type, state: one } = line.startsWith('{"type":"STATE"') ? JSON.parse(line) : {}
  if (type === 'STATE') states.set(nameOf(one), { type: 'STREAM', stream: one.stream })
}
const number = readdirSync(folder).filter((name) => name.endsWith('.jsonl')).length
// Rows before their state: a crash in between loads them once more.
renameSync(said, file(`sync.${String(number).padStart(6, '0')}.jsonl`))
writeFileSync(file('state.new'), JSON.stringify([...states.values()]))
renameSync(file('state.new'), file('state.json'))

function nameOf({ stream }) {
  return stream.stream_descriptor.name
}
