import { expect } from 'vitest'
import { type Scenario, startWithRows } from './scenario.ts'

/** A tenant of jobs, read once; the next sync is to audit it. */
export async function startDueJobs(rows = 12): Promise<Scenario> {
  const scenario = await startWithRows('jobs', rows)
  await scenario.sync()
  makeDue(scenario)
  return scenario
}

export function makeDue({ settings, emulator }: Scenario): void {
  settings['audit_days'] = 1
  emulator.advance({ hours: 25 })
}

/** What the delta is silent about, now and later. The next sync is to audit it. */
export async function changeInSilence(scenario: Scenario, change: () => void): Promise<void> {
  const { emulator, settings, sync, differences } = scenario
  change()
  emulator.fault('/delta', 'empty', { times: 1 })
  delete settings['audit_days']
  await sync()
  expect(differences()).not.toEqual([])
  makeDue(scenario)
}
