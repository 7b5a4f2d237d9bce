import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAcceptanceConfig } from '../acceptance-config.ts'
import { allJudges } from '../conformance-suite.ts'
import { configFile, emulatedTenant, executable } from '../emulated-tenant.ts'
import { type Evidence, gatherEvidence, type Subject } from '../evidence.ts'
import type { Judge } from '../judge.ts'
import { allFaults, FAILED_AS_SUCH } from './all-faults.ts'
import type { Fault } from './fault.ts'
import { createSpoiler, needsProcess } from './spoil.ts'

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
  good = evidenceOf(undefined, GOOD)
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

const spoil = createSpoiler()

/** What a connector says that has this fault, and no other; without one what the good one says. */
function evidenceOf(fault: Fault | undefined, config: string, given: Partial<Evidence> = {}) {
  const subject = { ...tenant, executable, acceptance }
  if (fault === undefined) return gatherEvidence(subject, config, given)
  const faulty: Partial<Subject> = needsProcess(fault)
    ? { executable: scriptOf(fault.does) }
    : { execute: spoil(fault) }
  return gatherEvidence({ ...subject, ...faulty }, config, given)
}

/** What the program for faults that take a process says when it is told to do nothing wrong. */
function evidenceOfProcess(config: string, given: Partial<Evidence>) {
  return gatherEvidence({ ...tenant, executable: scriptOf('nothing'), acceptance }, config, given)
}

function scriptOf(does: string): string {
  const file = join(folder, does.replaceAll(/\W+/g, '-'))
  const words = [process.execPath, PROGRAM, executable, does]
  writeFileSync(file, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(file, 0o755)
  return file
}

function judgeOf(rule: string): Judge {
  const judge = allJudges.find(({ name }) => name === rule)
  if (judge === undefined) throw new Error(`there is no rule "${rule}"`)
  return judge
}

// Incremental reads of one service end each other's states, so those faults wait for one another.
const isIncremental = ({ brokenRule }: Fault) => judgeOf(brokenRule).section === 'incremental'

async function isNoticed(fault: Fault): Promise<void> {
  const { brokenRule, command, config = GOOD } = fault
  const { spec, discover, offered, fullRefresh } = good
  // A fault of reads leaves the other answers as they are; one that takes a process shows in
  // circumstances, which are compared with an undisturbed read.
  const given = {
    ...(command === 'read' && { spec, discover, offered }),
    ...(needsProcess(fault) && { fullRefresh }),
  }
  const faults = await judgeOf(brokenRule).faults(evidenceOf(fault, config, given))
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
  const ofProcess = new Set(allFaults.filter(needsProcess).map(({ brokenRule }) => brokenRule))
  it('breaks none of these rules', { timeout: 180_000 }, async () => {
    for (const path of new Set(allFaults.map(({ config = GOOD }) => config))) {
      const printed = evidenceOf(undefined, path)
      const { spec, discover, offered, fullRefresh } = printed
      const done = evidenceOfProcess(path, { spec, discover, offered, fullRefresh })
      // In the order of the suite, because reading from the beginning ends older states.
      for (const { name, faults } of allJudges) {
        if (!rules.includes(`${path}: ${name}`)) continue
        expect({ [name]: await faults(ofProcess.has(name) ? done : printed) }).toEqual({
          [name]: [],
        })
      }
    }
  })
})
