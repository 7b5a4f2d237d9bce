import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { asConnectorError, ConnectorError, exitCodeOf } from './errors.ts'
import { ownFile } from './private-file.ts'

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

describe('an error of the system', () => {
  function failing(work: () => unknown): ConnectorError {
    try {
      work()
    } catch (error) {
      return asConnectorError(error)
    }
    return expect.unreachable()
  }

  it.each([
    ['ENOTDIR', 'file/below'],
    ['ELOOP', 'circle/below'],
    ['ENAMETOOLONG', 'x'.repeat(5000)],
  ])('about a path that cannot be reached is for the user: %s', (code, name) => {
    const { path: folder, remove } = temporaryFolder()
    onTestFinished(remove)
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('circle', join(folder, 'circle'))
    const path = join(folder, name)
    expect(failing(() => ownFile(path))).toMatchObject({
      failure: 'config',
      id: 'path-not-reached',
      message: expect.stringContaining(`${path} cannot be reached (${code}). Name another path`),
    })
  })

  it('about a file that the program lacks is for its developers', () => {
    expect(failing(() => mkdirSync('/missing/folder')).failure).toBe('system')
  })
})
