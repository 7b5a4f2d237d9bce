import { type Execute, execute, type Files } from '../execute.ts'
import { parseOutput, type Transcript } from '../transcript.ts'
import type { Fault } from './fault.ts'

/** Whether a process has to do it; what a connector prints is spoilt without one. */
export function needsProcess({ ending, needsOwnFolder, onlyIntoAFile }: Fault): boolean {
  return Boolean(ending ?? needsOwnFolder ?? onlyIntoAFile)
}

/**
 * Runs a good connector and spoils what it printed. All faults share its answers: the same command
 * with the same files runs once. With a state it always runs, because the service may have
 * forgotten or changed what the state stands for.
 */
export function createSpoiler(): (fault: Fault) => Execute {
  const answers = new Map<string, Promise<Transcript>>()
  const answer: Execute = (executable, command, files = {}, circumstances = {}) => {
    const run = () => execute(executable, command, files, circumstances)
    if (files.state !== undefined) return run()
    const key = JSON.stringify([command, files, circumstances])
    const known = answers.get(key) ?? run()
    answers.set(key, known)
    return known
  }
  return (fault) =>
    async (executable, command, files = {}, circumstances = {}) => {
      if (!isMeant(fault, command, files)) return answer(executable, command, files, circumstances)
      const { state, ...others } = files
      const given = fault.ignoresState ? others : { ...others, state }
      return spoilt(await answer(executable, command, given, circumstances), fault)
    }
}

function isMeant(fault: Fault, command: string, { state }: Files): boolean {
  if ((fault.command ?? command) !== command) return false
  if (fault.onlyWithState === undefined) return true
  const text = typeof state === 'string' ? state : JSON.stringify(state)
  return text !== undefined && fault.onlyWithState.test(text)
}

function spoilt(said: Transcript, fault: Fault): Transcript {
  const texts = said.stdout.trimEnd().split('\n')
  const stdout = `${(fault.lines?.(texts) ?? texts).join('\n')}\n`
  const lines = parseOutput(stdout)
  return {
    ...said,
    stdout,
    lines,
    messages: lines.flatMap(({ message }) => message ?? []),
    stderr: `${fault.stderr ?? ''}${said.stderr}`,
    exitCode: fault.exitCode ?? said.exitCode,
  }
}
