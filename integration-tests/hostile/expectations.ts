import { expect } from 'vitest'
import { DELTA_TOKEN, type ScenarioRun, SECOND, SECRET, STREAM, TOKEN } from './scenario.ts'

export type FailureType = 'config' | 'transient' | 'system'

/** What holds of every recording, whatever the service does: no secret is told, no other origin is asked. */
export function expectNoLeak({ messages, requestsElsewhere }: ScenarioRun): void {
  expect(
    requestsElsewhere.map(({ target, headers }) => [target, headers.get('authorization')]),
  ).toEqual([])
  const told = messages
    // Records are the service's own data, and a state must hold the links as they are.
    .filter(({ type }) => type !== 'RECORD' && type !== 'STATE')
    .map((message) => JSON.stringify(message))
    .join('\n')
  for (const secret of [SECRET, TOKEN, DELTA_TOKEN]) {
    // The beginning of a secret that was cut off gives it away as well.
    for (const form of [secret.slice(0, 12), encodeURIComponent(secret).slice(0, 12)]) {
      expect(told).not.toContain(form)
    }
  }
}

/** The run failed once, in this way and with these words, which end like a sentence. */
export function expectFailure(
  { exitCode, errors }: ScenarioRun,
  failure: FailureType,
  words: string | RegExp,
): void {
  expect(errors.map(({ failure_type, message }) => ({ failure_type, message }))).toEqual([
    { failure_type: `${failure}_error`, message: expect.stringMatching(asPattern(words)) },
  ])
  expect(errors[0]?.message).toMatch(/[.]$/)
  expect(errors[0]?.message).not.toMatch(/Unexpected error in the connector|undefined|\[object/)
  expect(exitCode).toBe(1)
}

/** The first page counts as read, and nothing of the second one: it is where the next sync continues. */
export function expectStoppedBeforeSecondPage(recording: ScenarioRun): void {
  expect(recording.records(STREAM).map(({ id }) => id)).toEqual([1, 2])
  expect(recording.states(STREAM).at(-1)).toMatchObject({ phase: 'list', link: SECOND })
}

function asPattern(words: string | RegExp): RegExp {
  return words instanceof RegExp ? words : new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
}
