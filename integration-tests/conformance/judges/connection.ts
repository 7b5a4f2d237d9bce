import type { Entry } from '../acceptance-config.ts'
import { errorsOf, type Transcript } from '../transcript.ts'
import { answersOnce } from './output.ts'

/** CAT and FAST give a check a minute. */
const LIMIT_SECONDS = 60

/**
 * A wrong configuration is FAILED with exit code 0, and says why; a fault of the connector or of
 * the network is a trace and another exit code, without a status.
 */
export function answersAsDeclared(transcript: Transcript, status: Entry['status']): string[] {
  const { exitCode, messages, seconds } = transcript
  const statuses = messages.flatMap(({ connectionStatus }) => connectionStatus ?? [])
  const late = seconds > LIMIT_SECONDS ? [`check took ${Math.round(seconds)} s`] : []
  if (status === 'exception') {
    const errors = errorsOf(transcript)
    const isRight = exitCode !== 0 && statuses.length === 0 && errors.length === 1
    return isRight ? late : [`check ended with ${exitCode} and ${errors.length} errors`, ...late]
  }
  const expected = status === 'failed' ? 'FAILED' : 'SUCCEEDED'
  const faults = answersOnce(transcript)
  for (const { status: given, message } of statuses) {
    if (given !== expected) faults.push(`check says ${given} instead of ${expected}`)
    if (given === 'FAILED' && !message) faults.push('check does not say why it failed')
  }
  return [...faults, ...late]
}
