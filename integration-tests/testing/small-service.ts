import { afterEach, beforeEach } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/emulator.ts'

/** An emulated service of three people, which each test of a file has for itself. */
export interface SmallService {
  readonly emulator: Emulator
  /** Puts another one in its place. */
  replace(options: EmulatorOptions): Promise<void>
  /** A configuration that reads it. */
  config(extra?: object): object
}

export function smallService(): SmallService {
  let emulator: Emulator
  const start = async (options: EmulatorOptions = {}) => {
    emulator = await startEmulator({ people: 3, months: 1, ...options })
  }
  beforeEach(() => start())
  afterEach(() => emulator.close())
  return {
    get emulator() {
      return emulator
    },
    async replace(options) {
      await emulator.close()
      await start(options)
    },
    config: (extra = {}) => ({
      ...emulator.config(),
      activity_structures: emulator.activityStructures,
      ...extra,
    }),
  }
}
