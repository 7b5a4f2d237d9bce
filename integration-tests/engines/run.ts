import { engines } from './engines.ts'
import { type Outcome, runEngine } from './tools.ts'

/** Runs the engines that the arguments name, or all; the exit code is 0 only if everything passed. */
async function main(names: readonly string[]): Promise<void> {
  const counts = { passed: 0, failed: 0 }
  const tell = ({ step, fault }: Outcome) => {
    counts[fault === undefined ? 'passed' : 'failed'] += 1
    process.stdout.write(fault === undefined ? `ok    ${step}\n` : `FAIL  ${step}\n${fault}\n`)
  }
  for (const engine of engines.filter(({ name }) => names.length === 0 || names.includes(name)))
    await runEngine(engine, tell)
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`)
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
}

await main(process.argv.slice(2))
