import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAcceptanceConfig } from '../acceptance-config.ts'
import { allJudges } from '../conformance-suite.ts'
import { configFile, emulatedTenant, executable } from '../emulated-tenant.ts'
import { type Evidence, gatherEvidence } from '../evidence.ts'
import type { Judge } from '../judge.ts'
import { allFaults, FAILED_AS_SUCH } from './all-faults.ts'
import type { Fault } from './fault.ts'

const PROGRAM = fileURLToPath(
  new URL(
    '../../../dist/integration-tests/conformance/faults/faulty-connector.js',
    import.meta.url,
  ),
)
/** Three hours would be a long test: judges/progress.test.ts has this one. */
const PAUSES = 'never pauses'
const GOOD = 'secrets/config.json'
const STREAMS = 'integration-tests/conformance/faults/a-few-streams.json'

let folder: string
let good: Evidence
let tenant: Awaited<ReturnType<typeof emulatedTenant>>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'faulty-'))
  // Enough for the read of a few streams to fill a pipe.
  tenant = await emulatedTenant(8)
  good = evidenceOf('nothing', GOOD)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await tenant.close()
})

/** A few streams are enough to see a fault in, and quick to read. */
const acceptance = ((config) => ({
  ...config,
  entries: config.entries.map((entry) => ({ ...entry, configured_catalog_path: STREAMS })),
}))(readAcceptanceConfig(configFile))

/** What a connector says that does this wrong, and nothing else. */
function evidenceOf(does: string, config: string, given: Partial<Evidence> = {}): Evidence {
  const file = join(folder, does.replaceAll(/\W+/g, '-'))
  // A connector without a fault has to be judged by what it says now.
  const recordings = does === 'nothing' ? '' : folder
  const words = [process.execPath, PROGRAM, executable, recordings, does]
  writeFileSync(file, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(file, 0o755)
  return gatherEvidence({ ...tenant, executable: file, acceptance }, config, given)
}

function judgeOf(rule: string): Judge {
  const judge = allJudges.find(({ name }) => name === rule)
  if (judge === undefined) throw new Error(`there is no rule "${rule}"`)
  return judge
}

// Incremental reads of one service end each other's states, so those faults wait for one another.
const isIncremental = ({ brokenRule }: Fault) => judgeOf(brokenRule).section === 'incremental'

async function isNoticed({ does, brokenRule, command, config = GOOD }: Fault): Promise<void> {
  // A fault of reads leaves the other answers as they are.
  const { spec, discover, offered } = good
  const given = command === 'read' ? { spec, discover, offered } : {}
  const faults = await judgeOf(brokenRule).faults(evidenceOf(does, config, given))
  expect(faults).not.toEqual([])
  expect(faults.join()).not.toContain(FAILED_AS_SUCH)
}

it('has one name for each fault', () => {
  expect(new Set(allFaults.map(({ does }) => does)).size).toBe(allFaults.length)
})

it('has a fault for each rule', () => {
  const broken = new Set(allFaults.map(({ brokenRule }) => brokenRule))
  // The rules of undisturbed reads are the same for each kind of read.
  const asFullRefresh = (name: string) =>
    name.replace(/^(an incremental read|a read from the last state) /, 'a full refresh ')
  const unproved = allJudges.filter(({ name }) => !broken.has(asFullRefresh(name)))
  expect(unproved.map(({ name }) => name).filter((name) => !name.includes(PAUSES))).toEqual([])
})

describe.concurrent('a connector that', () => {
  it.each(allFaults.filter((fault) => !isIncremental(fault)))('$does is noticed', isNoticed)
})

describe('a connector whose incremental read', () => {
  it.each(allFaults.filter(isIncremental))('$does is noticed', isNoticed)
})

describe('a connector that does nothing wrong', () => {
  const rules = allFaults.map(({ brokenRule, config = GOOD }) => `${config}: ${brokenRule}`)
  it('breaks none of these rules', { timeout: 180_000 }, async () => {
    for (const path of new Set(allFaults.map(({ config = GOOD }) => config))) {
      const evidence = evidenceOf('nothing', path)
      // In the order of the suite, because reading from the beginning ends older states.
      for (const { name, faults } of allJudges) {
        if (rules.includes(`${path}: ${name}`))
          expect({ [name]: await faults(evidence) }).toEqual({ [name]: [] })
      }
    }
  })
})
