import fc from 'fast-check'
import { parseWriteSettings, type WriteSettings } from '../../config/write-settings.ts'
import type { ObjectName } from '../objects.ts'
import type { Outcome } from '../outcome.ts'
import type { WriteRecord } from '../write-record.ts'
import { createWriter } from '../writer.ts'
import {
  type createFakeService,
  type Death,
  type FakeOptions,
  type Fault,
  Killed,
} from './fake-service.ts'

type FakeService = ReturnType<typeof createFakeService>

/** Runs that meet faults, each a list of what happens at its requests, and a last one without. */
export interface History<T> {
  readonly options: FakeOptions
  readonly start: readonly T[]
  readonly wanted: readonly T[]
  readonly runs: readonly (readonly Fault[])[]
  readonly batchSize: number
}

/** Values of references. */
export const values = fc.integer({ min: 0, max: 4 }).map((n) => `v${n}`)

/** Random histories; each run meets some of the faults. */
export function histories<T>(
  start: fc.Arbitrary<T>,
  wanted: fc.Arbitrary<T>,
  faults: readonly Fault[],
): fc.Arbitrary<History<T>> {
  return fc.record({
    options: fc.record({
      secondValue: fc.constantFrom('replaces' as const, 'conflict' as const),
      hasEtags: fc.boolean(),
      hasReadableLists: fc.constant(true),
      unknownRecord: fc.constantFrom(404 as const, 400 as const),
      checkedFirst: fc.constantFrom('record' as const, 'link' as const),
    }),
    start: fc.array(start, { maxLength: 5 }),
    wanted: fc.array(wanted, { maxLength: 8 }),
    runs: fc.array(
      fc.array(fc.constantFrom<Fault>('none', 'none', ...faults), { minLength: 1, maxLength: 12 }),
      { maxLength: 3 },
    ),
    batchSize: fc.constantFrom(2, 3, 1000),
  })
}

/** One run of writing, and the settings that differ from the defaults. */
export interface RunInput {
  readonly service: FakeService
  readonly object: ObjectName
  readonly records: readonly Pick<WriteRecord, 'data' | 'isDelete'>[]
  readonly settings?: object
  readonly faults?: readonly Fault[]
  readonly death?: Death | undefined
  readonly batchSize?: number
  readonly showValues?: boolean
}

/** Writes the records in one run; the outcomes by the place of their records, up to a kill. */
export async function write(input: RunInput): Promise<Outcome[]> {
  const { service, object, records, settings = {}, faults, death, ...options } = input
  const outcomes: Outcome[] = []
  const writer = createWriter({
    client: service.connect(faults, death),
    settings: parseWriteSettings(settings),
    onOutcome: (outcome) => void outcomes.push(outcome),
    signal: new AbortController().signal,
    ...options,
  })
  try {
    for (const [ordinal, record] of records.entries())
      await writer.add({ ...record, object, ordinal })
    await writer.flush()
    if ((settings as Partial<WriteSettings>).mirror) await writer.mirror(object)
  } catch (error) {
    if (!(error instanceof Killed)) throw error
  }
  return outcomes
}
