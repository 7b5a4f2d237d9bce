import { fileURLToPath } from 'node:url'
import { startEmulator } from '../../emulator/emulator.ts'
import { streams } from '../../src/streams/streams.ts'
import type { Prepared } from './conformance-suite.ts'

/** Our connector, and the file that says how it is judged. */
export const executable = fileURLToPath(new URL('../../bin/source-protime', import.meta.url))
export const configFile = fileURLToPath(
  new URL('../../acceptance-test-config.yml', import.meta.url),
)

/** A small tenant with records in every stream, and the configurations that the file names. */
export async function emulatedTenant(people = 4): Promise<Prepared & { close(): Promise<void> }> {
  const emulator = await startEmulator({ people, months: 1, pageSize: 40 })
  const config = { ...emulator.config(), activity_structures: emulator.activityStructures }
  const wrongSecret = { ...config, client_secret: 'wrong-secret-1234' }
  return {
    configs: { 'secrets/config.json': config, 'secrets/wrong-secret.json': wrongSecret },
    expected(name) {
      const stream = streams.get(name)
      // The service has no list of references to compare with.
      return name === 'external_references' || stream === undefined
        ? undefined
        : emulator.all(stream.collection)
    },
    close: emulator.close,
  }
}
