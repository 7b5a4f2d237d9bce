import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Tests talk to this machine alone, and Node would read these certificates at each start of a program, for 50 ms.
delete process.env['NODE_EXTRA_CA_CERTS']

/** Files that take longest, first: else the others are long done when the last of them ends. */
const LONGEST = [
  'protime-sync',
  'integration-tests/inventory',
  'integration-tests/verify',
  'integration-tests/histories',
  'integration-tests/processes',
  'integration-tests/privacy',
  'integration-tests/library-guides',
  'singer-interruptions',
  'webhooks/syncs',
  'webhooks/deliveries',
  'warehouse/variants',
  'integration-tests/bookmarks',
  'airbyte-cli',
  'webhooks/subscriptions',
  'hostile/endless',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.includes(name))
      return at < 0 ? LONGEST.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['{src,emulator,integration-tests,scripts,bench,deploy}/**/*.test.ts'],
    // A fresh worker for each file would cost a third of the time.
    isolate: false,
    // Node's own modules, see compiled.mjs.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      `--import=${new URL('integration-tests/testing/compiled.mjs', import.meta.url)}`,
      '--enable-source-maps',
      // The collector of each worker would take threads from the others, and copy what servers and syncs keep a while.
      '--single-threaded-gc',
      '--min-semi-space-size=16',
      // Most code runs for a moment: to optimise it as soon as that of a server costs more than it saves.
      '--interrupt-budget=1000000',
    ],
    // Half of the time is spent waiting for processes and sockets.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    setupFiles: [
      'integration-tests/testing/property-seed.ts',
      'integration-tests/testing/loopback-only.ts',
    ],
    globalSetup: ['integration-tests/build-once.mjs'],
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // An event is waited for as long as the test may take.
    expect: { poll: { timeout: 60_000 } },
  },
})
