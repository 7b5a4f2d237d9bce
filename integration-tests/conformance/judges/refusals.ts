import { MISSING } from '../evidence.ts'
import { errorsOf, recordsOf, statusesOf, type Transcript } from '../transcript.ts'

/** CAT and FAST: a catalog that cannot be read ends in an error; ours also in an exit code. */
export function refusesTheUnknown(transcript: Transcript): string[] {
  const [error] = errorsOf(transcript)
  if (error === undefined) return ['a stream that does not exist is no error']
  const faults: string[] = []
  if (error.failure_type !== 'config_error')
    faults.push(`a stream that does not exist is a ${error.failure_type}`)
  if (transcript.exitCode === 0) faults.push('exit code 0 for a stream that does not exist')
  if (statusesOf(transcript, MISSING.name).includes('COMPLETE'))
    faults.push('a stream that does not exist is COMPLETE')
  return faults
}

/** One bad stream does not stop the others, and is named by its error. */
export function readsTheKnown(transcript: Transcript, known: string): string[] {
  const faults = refusesTheUnknown(transcript)
  if (statusesOf(transcript, known).at(-1) !== 'COMPLETE')
    faults.push(`${known} is not read beside a stream that does not exist`)
  if (statusesOf(transcript, MISSING.name).at(-1) !== 'INCOMPLETE')
    faults.push('a stream that does not exist is not INCOMPLETE')
  const isNamed = errorsOf(transcript).some(
    ({ stream_descriptor: stream }) => stream?.name === MISSING.name,
  )
  return isNamed ? faults : [...faults, 'the error does not name the stream that does not exist']
}

/** A read with a wrong configuration tells so before it does anything. */
export function refusesTheConfig(transcript: Transcript): string[] {
  const [error] = errorsOf(transcript)
  const faults: string[] = []
  if (error?.failure_type !== 'config_error')
    faults.push(`a wrong configuration is ${error?.failure_type ?? 'no error'}`)
  if (transcript.exitCode === 0) faults.push('exit code 0 with a wrong configuration')
  if (recordsOf(transcript).length > 0) faults.push('records in spite of a wrong configuration')
  return faults
}

/** PyAirbyte takes 0 and death by the signal itself; an exit code of 143 is an error to it. */
export function diesByTheSignal({ exitCode, signal, seconds }: Transcript): string[] {
  // PyAirbyte kills after ten seconds.
  if (seconds > 10) return [`it took ${Math.round(seconds)} s to end`]
  return signal === 'SIGTERM' || exitCode === 0 ? [] : [`it ended with ${exitCode ?? signal}`]
}

/** A reader that leaves is no reason to complain, to hang, or to claim success. */
export function leavesWithTheReader({ exitCode, stderr, seconds }: Transcript): string[] {
  const faults: string[] = []
  if (exitCode === 0) faults.push('exit code 0 though nobody read the rest')
  if (stderr.includes('EPIPE')) faults.push('it complains about EPIPE')
  if (seconds > 30) faults.push(`it went on for ${Math.round(seconds)} s`)
  return faults
}
