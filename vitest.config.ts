import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Tests connect to this machine only. Otherwise Node would read these certificates for 50 ms at each start of a program.
delete process.env['NODE_EXTRA_CA_CERTS']

/** The files that take longest are run first. Otherwise all others have finished long before the last of these ends. */
const LONGEST = [
  'proof/privacy',
  'integration-tests/postgres',
  'random-commits',
  'library/building-a-source',
  'protime-person',
  'erase-person',
  'protime-sync',
  'proof/inventory',
  'proof/brake',
  'writes/destination',
  'proof/verify',
  'proof/every-stream',
  'integration-tests/histories',
  'airbyte/processes',
  'warehouse/history',
  'file-of-ours',
  'singer-interruptions',
  'webhooks/syncs',
  'webhooks/deliveries',
  'warehouse/variants',
  'proof/bookmarks',
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

/** Much longer than any test needs on a quiet machine: it only ends what hangs. */
const HANGS_AFTER_MS = 240_000

const FOLDERS = '{src,emulator,integration-tests,scripts,bench,deploy}'
const testsIn = (endings: string) => [`${FOLDERS}/**/*.${endings}.ts`]

/** Which files run, by mode. Their names say when: `test` at any time, `thorough` before a merge, `nightly` by night. */
const MODES: Readonly<Record<string, object>> = {
  quick: { include: testsIn('test') },
  thorough: { include: testsIn('thorough') },
  nightly: {
    include: testsIn('{thorough,nightly}'),
    // The job has a limit of its own.
    testTimeout: 3_600_000,
    // Many more random histories, with a new seed each time.
    env: {
      PROPERTY_SEED: 'random',
      HISTORIES_SCALE: '80',
      SCANNER_BODIES: '50000',
      ROW_SEEDS: '3000',
    },
  },
}

export default defineConfig(({ mode }) => ({
  test: {
    include: testsIn('{test,thorough}'),
    testTimeout: HANGS_AFTER_MS,
    ...MODES[mode],
    // A fresh worker for each file would cost a third of the time.
    isolate: false,
    // Node loads the modules; see compiled.mjs.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      `--import=${new URL('integration-tests/testing/compiled.mjs', import.meta.url)}`,
      '--enable-source-maps',
      // Parallel garbage collection would take threads from other workers. A larger young generation avoids copying what
      // servers and syncs keep for a while.
      '--single-threaded-gc',
      '--min-semi-space-size=16',
      // Most code runs only for a moment, so that optimising it costs more than it saves.
      '--interrupt-budget=1000000',
    ],
    // Tests spend half of their time waiting for processes and sockets.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    setupFiles: ['integration-tests/testing/set-up.ts'],
    globalSetup: ['integration-tests/build-once.mjs', 'integration-tests/temporary-files.mjs'],
    sequence: { sequencer: LongestFirst },
    hookTimeout: HANGS_AFTER_MS,
    // Wait for an event as long as the test itself may take.
    expect: { poll: { timeout: HANGS_AFTER_MS } },
  },
}))
