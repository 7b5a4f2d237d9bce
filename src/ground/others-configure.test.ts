import { expect, it } from 'vitest'
import { othersConfigure } from './others-configure.ts'

it.each([
  [{}, false],
  [{ DEPLOYMENT_MODE: 'oss' }, false],
  [{ DEPLOYMENT_MODE: 'cloud' }, true],
  [{ DEPLOYMENT_MODE: ' CLOUD\n' }, true],
  [{ PROTIME_PUBLIC_ONLY: '' }, false],
  [{ PROTIME_PUBLIC_ONLY: ' 0 ' }, false],
  [{ PROTIME_PUBLIC_ONLY: '1' }, true],
  [{ PROTIME_PUBLIC_ONLY: 'true' }, true],
])('with the environment %j others write the configuration: %s', (env, expected) => {
  expect(othersConfigure(env)).toBe(expected)
})
