import { fstatSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { allFaults, FAILED_AS_SUCH } from './all-faults.ts'
import type { Fault } from './fault.ts'
import { answerOf } from './recordings.ts'

/**
 * A connector that does one thing wrong. Arguments: the executable of a good connector, a folder for
 * recordings of it (or nothing), what to do wrong (the `does` of a fault, or `nothing`), and the
 * command with its files.
 */
async function main([
  executable = '',
  recordings = '',
  does,
  ...args
]: readonly string[]): Promise<void> {
  const fault = faultFor(
    args,
    allFaults.find((one) => one.does === does),
  )
  if (fault.needsOwnFolder && process.cwd() === '/') process.exit(1)
  if (fault.ending === 'exit 143') process.on('SIGTERM', () => process.exit(143))
  process.stdout.on('error', () => process.exit(fault.ending === 'swallow EPIPE' ? 0 : 1))
  const answer = await answerOf(executable, fault.args?.(args) ?? args, recordings)
  const lines = answer.stdout.trimEnd().split('\n')
  process.stderr.write(fault.stderr ?? '')
  process.stdout.write(`${(fault.lines?.(lines) ?? lines).join('\n')}\n`)
  process.exitCode = fault.exitCode ?? answer.exitCode ?? 1
  if (fault.ending === 'exit without drain') process.exit()
  // Long enough for a signal to arrive.
  if (fault.ending === 'exit 143') await sleep(2000)
}

/** The fault, or none where it does not show. */
function faultFor(args: readonly string[], fault: Fault | undefined): Partial<Fault> {
  const [command] = args
  if (fault === undefined || (fault.command ?? command) !== command) return {}
  if (fault.onlyIntoAFile && !fstatSync(1).isFile()) return {}
  if (fault.onlyWithState === undefined) return fault
  const file = args.includes('--state') ? args[args.indexOf('--state') + 1] : undefined
  const isMeant = file !== undefined && fault.onlyWithState.test(readFileSync(file, 'utf8'))
  return isMeant ? fault : {}
}

// As a line of stdout it ends up in the faults that are found, whatever rule is tested.
await main(process.argv.slice(2)).catch((error) => {
  process.stdout.write(`${FAILED_AS_SUCH}: ${error}\n`)
  process.exitCode = 1
})
