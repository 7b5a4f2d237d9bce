import { describe, expect, it } from 'vitest'
import { ConnectorError, exitCodeOf } from './errors.ts'

describe('the exit code', () => {
  const error = {
    config: new ConnectorError('config', 'client-not-accepted', 'x'),
    transient: new ConnectorError('transient', 'in-use', 'x'),
    system: new ConnectorError('system', 'page-damaged', 'x'),
  }

  it.each([
    ['nothing failed', [], 0],
    ['somebody has to act', [error.config, error.config], 2],
    ['another attempt may succeed', [error.transient], 1],
    ['the service or the connector broke its contract', [error.system], 1],
    ['only some of the failures need somebody', [error.config, error.transient], 1],
  ] as const)('says whether %s', (_, errors, code) => {
    expect(exitCodeOf(errors.map((one) => ({ error: one })))).toBe(code)
  })
})
