import { deepEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { airbyteFaults, type ProgramRun, singerFaults } from 'source-protime/protocol/testing'

// A test of somebody who has installed the package: source-planets.js by the rules of the protocol.
function run(...words: string[]): ProgramRun {
  const args = ['source-planets.js', ...words]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { exitCode: status, stdout, stderr }
}

writeFileSync('empty.json', '{}')
const discovered = run('discover', '--config', 'empty.json')
deepEqual(airbyteFaults(discovered, 'discover'), [])
writeFileSync('planets.json', discovered.stdout)
const { catalog } = JSON.parse(discovered.stdout)
const read = run('read', '--config', 'empty.json', '--catalog', 'planets.json')
deepEqual(airbyteFaults({ ...read, catalog }, 'read'), [])
const [unknown = ''] = singerFaults(read)
process.stdout.write(`${read.stdout.split('"type":"RECORD"').length - 1} records, ${unknown}\n`)
