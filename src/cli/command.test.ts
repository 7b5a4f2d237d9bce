import { expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { orStartError, StartError } from './command.ts'

it.each([
  ['a scheduler may try again', 'transient', 'in-use', false],
  ['somebody has to act', 'config', 'no-history', true],
] as const)('a command that cannot start ends as a sync does if %s', async (_, failure, id, is) => {
  const starting = orStartError(Promise.reject(new ConnectorError(failure, id, 'x')))
  const error = await starting.catch((reason) => reason)
  expect([error instanceof StartError, error.failure, error.id]).toEqual([is, failure, id])
})
