import fc from 'fast-check'
import { describe, it } from 'vitest'
import { BETWEEN_SYNCS } from './history.ts'
import { createDestination, type PrivacyDestination } from './privacy/destinations.ts'
import {
  type PrivacyHistory,
  type PrivacyPlace,
  type PrivacyStep,
  type PrivacySync,
  privacyHistories,
  type Treatment,
} from './privacy/history.ts'
import { type MarkedTenant, startMarkedTenant } from './privacy/tenant.ts'
import { DAY_MS, runSettings } from './property.ts'

/** A sync that nothing disturbs. */
const QUIET: PrivacySync = {
  do: 'sync',
  refusal: null,
  killAfter: 0,
  keepsHistory: false,
  isFull: false,
}

interface Running {
  readonly tenant: MarkedTenant
  readonly destination: PrivacyDestination
  treatment: Treatment
  /** Whether the sync before was cut off or refused: what it has begun is read as it was then. */
  wasCut: boolean
}

/** Runs so many random histories of personal data. */
async function checkPrivacyHistories(place: PrivacyPlace, usual: number): Promise<void> {
  const { runs, path } = runSettings(usual)
  const property = fc.asyncProperty(privacyHistories(place), (history) =>
    runPrivacyHistory(history, place),
  )
  await fc.assert(property, {
    numRuns: runs,
    ...(path === undefined ? {} : { path }),
  })
}

/**
 * Runs a history and throws unless no sync says or stores a value that the settings of the moment leave out, and each good
 * one leaves all the others, as they are to be.
 */
async function runPrivacyHistory(history: PrivacyHistory, place: PrivacyPlace): Promise<void> {
  const tenant = await startMarkedTenant(history)
  const destination = createDestination(place, history.publishes)
  const running = { tenant, destination, treatment: history.treatment, wasCut: false }
  try {
    for (const step of [...history.steps, QUIET]) await take(step, running)
  } finally {
    destination.close()
    await tenant.close()
  }
}

async function take(step: PrivacyStep, running: Running): Promise<void> {
  if (step.do === 'treat') running.treatment = step.treatment
  else if (step.do === 'sync') await sync(step, running)
  else running.tenant.happen(step)
}

async function sync(step: PrivacySync, running: Running): Promise<void> {
  const { tenant, destination, treatment } = running
  const { emulator } = tenant
  const streams = tenant.offered(treatment)
  if (streams.length === 0) return
  if (step.refusal) tenant.refuse(step.refusal.stream, step.refusal.status)
  emulator.advance(BETWEEN_SYNCS)
  const { isGood, texts, said } = await destination.sync({
    config: tenant.config(treatment),
    streams,
    step,
  })
  emulator.clearFaults()
  refuse(
    texts.flatMap(({ where, text, given }) =>
      tenant
        .leftOut(text, treatment)
        .filter((mark) => given?.has(mark) !== true)
        .map((mark) => `${mark} is left out, and stands in ${where}: ${around(mark, text)}`),
    ),
  )
  const isQuiet = step.refusal === null && step.killAfter === 0
  if (isQuiet && !isGood) throw new Error(`a sync fails that nothing disturbs: ${said}`)
  const { wasCut } = running
  running.wasCut = !isGood
  if (!isGood) return
  if (wasCut) await sync(QUIET, running)
  else
    for (const stream of streams) {
      const rows = tenant.rows(stream, treatment)
      refuse(await destination.differences(stream, rows, tenant.areReferencesStale))
    }
}

function around(mark: string, text: string): string {
  const at = text.indexOf(mark)
  return JSON.stringify(text.slice(Math.max(0, at - 100), at + mark.length))
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.slice(0, 10).join('\n'))
}

const timeout = DAY_MS

describe('in-process', () => {
  it('no record, state, log or metric of Airbyte has a value that the current settings leave out', {
    timeout,
  }, async () => {
    await checkPrivacyHistories('in-process', 4)
  })
})

describe('singer', () => {
  it('no record, state, log or metric of Singer has a value that the current settings leave out', {
    timeout,
  }, async () => {
    await checkPrivacyHistories('singer', 2)
  })
})

describe('warehouse', () => {
  it('no byte of a warehouse comes from a value that the current settings leave out', {
    timeout,
  }, async () => {
    await checkPrivacyHistories('warehouse', 2)
  })
})
