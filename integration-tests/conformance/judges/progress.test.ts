import { expect, it } from 'vitest'
import { parseOutput, type Transcript } from '../transcript.ts'
import { heartbeatIsKept, retryableFailuresComeFirst } from './progress.ts'

function transcript(stdout: string, longestPause = 0): Transcript {
  const lines = parseOutput(stdout)
  const messages = lines.flatMap(({ message }) => message ?? [])
  const ended = { command: 'read', exitCode: 1, signal: null, stderr: '', seconds: 1 }
  return { ...ended, stdout, lines, messages, longestPause }
}

const failure = (type: string) =>
  `${JSON.stringify({
    type: 'TRACE',
    trace: { type: 'ERROR', emitted_at: 1, error: { message: 'No.', failure_type: type } },
  })}\n`

it('minds a pause that is longer than the platform waits', () => {
  expect(heartbeatIsKept(transcript('', 10_801))).not.toEqual([])
  expect(heartbeatIsKept(transcript('', 10_799))).toEqual([])
})

it('minds a config error before a failure that a retry would cure', () => {
  const wrong = failure('config_error') + failure('transient_error')
  expect(retryableFailuresComeFirst(transcript(wrong))).not.toEqual([])
})

it('takes a config error after all others', () => {
  const right = failure('transient_error') + failure('system_error') + failure('config_error')
  expect(retryableFailuresComeFirst(transcript(right))).toEqual([])
})
