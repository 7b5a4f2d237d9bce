// Runs many random histories, or one again:
//   npm run test:histories -- --runs 5000
//   npm run test:histories -- --kind interrupted --place in-process --seed 1 --path 7:2
//   npm run test:histories -- --runs 5000 --as-drawn
//   npm run test:histories -- --kind edited --options '{"listOrder":"version","paging":"offset"}'
//   npm run test:histories -- --place write --runs 1000
//   npm run test:histories -- --kind privacy --place warehouse --runs 500
// A path is one history, whatever --runs says.
// A history that fails is made as short as possible, which takes minutes; with --as-drawn it is told at once.
// The kinds share the runs, and run side by side; of writing, each object has all of them, and a fifth is over sockets.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    place: { type: 'string', default: 'in-process' },
    kind: { type: 'string' },
    seed: { type: 'string', default: 'random' },
    path: { type: 'string' },
    options: { type: 'string' },
    'as-drawn': { type: 'boolean' },
  },
})
const isWriting = values.place === 'write'
const all = ['anything', 'few-records', 'interrupted', 'edited', 'rights']
const fileOf = (kind) => `integration-tests/histories/${kind}.thorough.ts`
/** Each file has a block for each of its places. */
const hasPlace = (kind) =>
  existsSync(fileOf(kind)) &&
  readFileSync(fileOf(kind), 'utf8').includes(`describe('${values.place}',`)
const kinds = isWriting
  ? ['write']
  : (values.kind === undefined ? all : [values.kind]).filter(hasPlace)
if (kinds.length === 0) throw new Error('There are no such histories; see --kind and --place.')
const environment = {
  HISTORIES_RUNS: String(Math.ceil(Number(values.runs) / kinds.length)),
  PROPERTY_SEED: values.seed,
  HISTORIES_PATH: values.path,
  HISTORIES_OPTIONS: values.options,
  HISTORIES_AS_DRAWN: values['as-drawn'] ? 'yes' : undefined,
}
const given = Object.entries(environment).filter(([, value]) => value !== undefined)
const words = isWriting
  ? [
      'src/write/reference-histories.thorough.ts',
      'src/write/named-histories.thorough.ts',
      'integration-tests/writes/late-effects.thorough.ts',
    ]
  : [...kinds.map(fileOf), '--testNamePattern', `^${values.place} `]
const { status } = spawnSync('npx', ['vitest', 'run', ...words], {
  stdio: 'inherit',
  env: { ...process.env, ...Object.fromEntries(given) },
})
process.exitCode = status ?? 1
