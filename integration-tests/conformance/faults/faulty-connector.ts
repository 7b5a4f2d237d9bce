import { spawn } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { allFaults, FAILED_AS_SUCH } from './all-faults.ts'
import type { Fault } from './fault.ts'

/**
 * A connector that does one thing wrong for which it takes a process. Arguments: the executable of
 * a good connector, what to do wrong (the `does` of a fault, or `nothing`), and the command with
 * its files.
 */
async function main([executable = '', does, ...args]: readonly string[]): Promise<void> {
  const fault = faultFor(
    args,
    allFaults.find((one) => one.does === does),
  )
  if (fault.needsOwnFolder && process.cwd() === '/') process.exit(1)
  if (fault.ending === 'exit 143') process.on('SIGTERM', () => process.exit(143))
  process.stdout.on('error', () => process.exit(fault.ending === 'swallow EPIPE' ? 0 : 1))
  const answer = await answerOf(executable, args)
  const lines = answer.stdout.trimEnd().split('\n')
  process.stdout.write(`${(fault.lines?.(lines) ?? lines).join('\n')}\n`)
  process.exitCode = answer.exitCode ?? 1
  if (fault.ending === 'exit without drain') process.exit()
  // The signal ends it, whenever that comes.
  if (fault.ending === 'exit 143') setInterval(() => {}, 1000)
}

/** The fault, or none where it does not show. */
function faultFor(args: readonly string[], fault: Fault | undefined): Partial<Fault> {
  const [command] = args
  if (fault === undefined || (fault.command ?? command) !== command) return {}
  if (fault.onlyIntoAFile && !fstatSync(1).isFile()) return {}
  return fault
}

async function answerOf(executable: string, args: readonly string[]) {
  const child = spawn(executable, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const stdout = await text(child.stdout)
  return { stdout, exitCode: await ended }
}

// As a line of stdout it ends up in the faults that are found, whatever rule is tested.
await main(process.argv.slice(2)).catch((error) => {
  process.stdout.write(`${FAILED_AS_SUCH}: ${error}\n`)
  process.exitCode = 1
})
