import { defineConfig } from 'vitest/config'
import stryker from './stryker.config.json' with { type: 'json' }

/** What `npm run test:mutants` runs for each mutant: the unit tests of the files that are mutated, and no others. */
export default defineConfig({
  test: {
    include: stryker.mutate.map((file) => file.replace(/\.ts$/, '{,-*}.test.ts')),
    setupFiles: ['integration-tests/testing/set-up.ts'],
    // Stryker ends a mutant that hangs; on a busy machine, a test of random histories takes longer than vitest's 5 seconds.
    testTimeout: 240_000,
  },
})
