import fc from 'fast-check'
import type { ReferenceChoice } from '../../src/config/config.ts'
import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import { QUIET, type Setting, type Step } from './history.ts'

const people = { collection: 'people', names: ['@employee-number', 'payroll'] }
const shifts = { collection: 'shift-definitions', names: ['@shift-code'] }
const choices = fc.constantFrom<ReferenceChoice[]>(
  [],
  [{ collection: 'people', names: ['payroll'] }],
  [people],
  [people, shifts],
  // In another order.
  [shifts, { collection: 'people', names: ['payroll', '@employee-number'] }],
)
const startDate = fc.constantFrom(undefined, '2024-06-01', '2024-01-01', '2023-02-15', '2026-03-01')
const refreshDays = fc.constantFrom(0, 1, 2, 7)
const auditDays = fc.constantFrom(0, 0, 1, 2)
const windowDays = fc.constantFrom(365, 365, 100, 50, 20)
const futureDays = fc.constantFrom(730, 30, 0)
const concurrency = fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 4)
/** Not the one under which a stream is not offered. */
const personalData = fc.constantFrom<PrivacyMode>('complete', 'without_secrets', 'pseudonymised')

/** The configuration of the first sync. */
export const settings = fc.record({
  start_date: startDate,
  external_references: choices,
  personal_data: personalData,
  history_refresh_days: refreshDays,
  audit_days: auditDays,
  window_days: windowDays,
  future_days: futureDays,
  concurrency,
  // In thirty days, a history may delete more than a fifth of a few rows.
  max_missing: fc.constant('50'),
})

/** What must not make a stream start over. */
export const gentle: fc.Arbitrary<Setting> = fc.oneof(
  fc.record({ set: fc.constant('history_refresh_days' as const), to: refreshDays }),
  fc.record({ set: fc.constant('audit_days' as const), to: auditDays }),
  fc.record({ set: fc.constant('window_days' as const), to: windowDays }),
  fc.record({ set: fc.constant('window_days' as const), to: windowDays }),
  fc.record({ set: fc.constant('future_days' as const), to: futureDays }),
  fc.record({ set: fc.constant('concurrency' as const), to: concurrency }),
)

const levels = fc.constantFrom<number[]>([1, 2], [1, 2], [1], [2])

const setting: fc.Arbitrary<Setting> = fc.oneof(
  fc.record({ set: fc.constant('external_references' as const), to: choices }),
  fc.record({ set: fc.constant('start_date' as const), to: startDate }),
  fc.record({ set: fc.constant('personal_data' as const), to: personalData }),
  fc.record({ set: fc.constant('activity_structures' as const), to: levels }),
  gentle,
)

const columns = fc.record({
  do: fc.constant('columns' as const),
  stream: fc.nat(2),
  without: fc.array(fc.nat(30), { maxLength: 3 }),
})
const address = fc.constantFrom<Step[]>(
  { do: 'address', host: 'localhost' },
  { do: 'address', host: '127.0.0.1' },
)

/** A change of the configuration, or of what the platform asks for. */
export const configure: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('configure' as const), setting }) },
  { weight: 2, arbitrary: columns },
  { weight: 1, arbitrary: address },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('select' as const), without: some(fc.nat(2)) }),
  },
)

/** A change that must not make a stream start over. */
export const configureGently: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('configure'),
  setting: gentle,
})

/** What is changed for a while, and then as it was. */
type There = readonly [there: Step, back: Step]

const configured = (set: Setting['set'], to: unknown): Step =>
  ({ do: 'configure', setting: { set, to } }) as Step

function between(set: Setting['set'], value: fc.Arbitrary<unknown>): fc.Arbitrary<There> {
  return fc.tuple(value, value).map(([to, from]) => [configured(set, to), configured(set, from)])
}

/**
 * A setting or a choice that changes, and changes back after a few syncs, with things that happen in
 * between.
 */
export function thereAndBack(others: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> {
  const there = fc.oneof<fc.Arbitrary<There>[]>(
    between('activity_structures', levels),
    between('start_date', startDate),
    between('external_references', choices),
    between('future_days', futureDays),
    columns.map((chosen): There => [chosen, { ...chosen, without: [] }]),
    address.map((moved): There => [moved, { do: 'address', host: '127.0.0.1' }]),
    some(fc.nat(2)).map((without) => [
      { do: 'select', without },
      { do: 'select', without: [] },
    ]),
  )
  const meanwhile = fc.array(others, { maxLength: 3 })
  return fc
    .tuple(there, meanwhile, meanwhile)
    .map(([[there, back], first, then]): Step[] => [
      ...[QUIET, there, ...first, QUIET],
      ...[back, ...then, QUIET],
    ])
}

function some<T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(one, { minLength: 1, maxLength: 2 })
}
