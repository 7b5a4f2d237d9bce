import { defineConfig } from 'vitest/config'
import gate from './vitest.config.ts'

/** What takes long: tests of the tests, large data, and more histories, from another seed each time. */
export default defineConfig({
  test: {
    ...gate.test,
    include: [
      '{src,emulator,integration-tests,scripts,bench}/**/*.nightly.ts',
      'src/**/*.fuzz.test.ts',
      'integration-tests/histories/{in-process,singer,executable,warehouse,duckdb}-*.test.ts',
      'integration-tests/hostile/{attacks,sender-attacks}.test.ts',
      'integration-tests/{bookmarks,protime-sync-kills,verify-moving}.test.ts',
      'src/write/reference-histories.test.ts',
      'src/write/named-histories.test.ts',
      'src/webhooks/serve/keeper-histories.test.ts',
      'integration-tests/writes/late-effects.test.ts',
    ],
    // A hundred times as much takes as long as it takes; the job has a limit.
    testTimeout: 3_600_000,
    env: { PROPERTY_SEED: 'random', HISTORIES_SCALE: '80', SCANNER_BODIES: '50000' },
  },
})
