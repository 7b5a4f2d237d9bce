import type { EmulatorOptions } from '../../emulator/emulator.ts'
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
