// Plays many histories, or one again:
//   npm run test:histories -- --runs 5000
//   npm run test:histories -- --place in-process --seed 1 --path 7:2
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    place: { type: 'string', default: 'in-process' },
    seed: { type: 'string' },
    path: { type: 'string' },
  },
})
const environment = {
  HISTORIES_RUNS: values.runs,
  HISTORIES_SEED: values.seed,
  HISTORIES_PATH: values.path,
}
const given = Object.entries(environment).filter(([, value]) => value !== undefined)
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', `integration-tests/histories/${values.place}.test.ts`],
  { stdio: 'inherit', env: { ...process.env, ...Object.fromEntries(given) } },
)
process.exitCode = status ?? 1
