import { afterEach, beforeEach } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/emulator.ts'
import { type AirbyteOptions, type AirbyteRun, run } from './run.ts'

/** An emulated service of three people, which each test of a file has for itself. */
interface SmallService {
  readonly emulator: Emulator
  /** Puts another one in its place. */
  replace(options: EmulatorOptions): Promise<void>
  /** A configuration that reads it. */
  config(extra?: object): object
  /** Runs a command of source-protime in this process, which reads it unless the options say otherwise. */
  run(command: AirbyteOptions['command'], options?: Partial<AirbyteOptions>): Promise<AirbyteRun>
}

/** Starts the service before each test of a file, and closes it behind. */
export function smallService(): SmallService {
  let emulator: Emulator
  const start = async (options: EmulatorOptions = {}) => {
    emulator = await startEmulator({ people: 3, months: 1, ...options })
  }
  beforeEach(() => start())
  afterEach(() => emulator.close())
  const config = (extra = {}) => ({
    ...emulator.config(),
    activity_structures: emulator.activityStructures,
    ...extra,
  })
  return {
    get emulator() {
      return emulator
    },
    async replace(options) {
      await emulator.close()
      await start(options)
    },
    config,
    run: (command, options) =>
      run({ program: 'source-protime', command, in: 'process', config: config(), ...options }),
  }
}

/** The last status of each stream of a run. */
export function streamStatuses({ messages }: Pick<AirbyteRun, 'messages'>): Record<string, string> {
  return Object.fromEntries(
    messages.flatMap(({ trace }) => {
      const status = trace?.stream_status
      return status === undefined ? [] : [[status.stream_descriptor.name, status.status]]
    }),
  )
}

/** A client of the emulator with these scopes, or those of the collections. */
export const clientOf = (scopes?: readonly string[]) => [
  { id: 'connector', secret: 'emulator-secret', ...(scopes && { scopes }) },
]
