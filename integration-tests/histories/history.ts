import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { shortRetryPolicy } from '../../src/http/testing/short-retry-policy.ts'
import type { AirbyteOptions } from '../testing/run.ts'
import type { Change, Step } from './step.ts'

/** What a history is about: the service, the configuration, and what happens. */
export interface History {
  readonly streams: readonly string[]
  readonly options: EmulatorOptions
  readonly settings: Readonly<Record<string, unknown>>
  /** Changes before the first sync. */
  readonly seeded: readonly Change[]
  readonly steps: readonly Step[]
}

/** Whether the syncs run in this process, or as processes whose waits and kills are real. */
export type Place = 'in-process' | 'executable'

/** Attempts of a request that fails, in all; their waits cost no time. */
const ATTEMPTS = 6

/** How a sync is run there. */
export const inPlace: Readonly<Record<Place, AirbyteOptions>> = {
  'in-process': {
    program: 'source-protime',
    command: 'read',
    in: 'process',
    retryPolicy: shortRetryPolicy(ATTEMPTS),
  },
  executable: { program: 'source-protime', command: 'read' },
}
