import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import { failureOf, isBusy, isLost, notOpened, readingFailureOf } from './failure.ts'

const failed = (code: string, message = 'what the server says') =>
  Object.assign(new Error(message), { code })

describe('the failure of a statement', () => {
  it.each<[string, unknown, string, boolean]>([
    ['a server that ends', failed('57P01'), 'warehouse-not-reached', true],
    ['a server that starts', failed('57P03'), 'warehouse-not-reached', true],
    ['a broken connection', failed('08006'), 'warehouse-not-reached', true],
    ['a reset of the network', failed('ECONNRESET'), 'warehouse-not-reached', true],
    ['a closed pipe', failed('EPIPE'), 'warehouse-not-reached', true],
    [
      'a client without a connection',
      new Error('Connection terminated unexpectedly'),
      'warehouse-not-reached',
      true,
    ],
    ['too many connections', failed('53300'), 'warehouse-not-reached', true],
    ['a server that may not write any more', failed('25006'), 'warehouse-not-reached', true],
    [
      'a server in recovery',
      failed('0A000', 'cannot lock during recovery'),
      'warehouse-not-reached',
      true,
    ],
    ['another feature that is missing', failed('0A000'), 'warehouse-not-written', false],
    ['a lock of another statement', failed('55P03'), 'in-use', false],
    ['a deadlock', failed('40P01'), 'in-use', false],
    ['a missing right', failed('42501'), 'rights-missing', false],
    ['a full disk', failed('53100'), 'warehouse-not-written', true],
    ['a broken disk', failed('58030'), 'warehouse-not-written', true],
    ['a check that a row breaks', failed('23514'), 'warehouse-not-written', false],
    [
      'a sync that holds the warehouse',
      new ConnectorError('transient', 'in-use', 'x'),
      'in-use',
      true,
    ],
    [
      'another failure of ours',
      new ConnectorError('config', 'name-taken', 'x'),
      'name-taken',
      false,
    ],
  ])('of %s says whether all streams fail', (_, error, id, isOfAll) => {
    expect(failureOf(error)).toMatchObject({ error: { id }, isOfAll })
  })

  it('quotes no value of a row', () => {
    const { error } = failureOf(failed('23514', 'Failing row contains (17, Ann)'))
    expect(error.message).toContain('SQLSTATE 23514')
    expect(error.message).not.toContain('Ann')
  })

  it('says that no space is left, whatever the language of the server', () => {
    const { error } = failureOf(failed('53100', 'the device is out of room'))
    expect(error.message).toContain('no space is left on the disk')
  })
})

it.each<[string, unknown, boolean, boolean]>([
  ['57P01', failed('57P01'), true, false],
  ['08003', failed('08003'), true, false],
  ['ETIMEDOUT', failed('ETIMEDOUT'), true, false],
  ['a client that is not queryable', new Error('Client is not queryable'), true, false],
  ['53300', failed('53300'), false, false],
  ['40001', failed('40001'), false, true],
  ['55P03', failed('55P03'), false, true],
  ['23505', failed('23505'), false, false],
  ['an error without a code', new Error('x'), false, false],
  ['something else', undefined, false, false],
])(
  '%s: whether the connection is lost, and whether a moment later it may succeed',
  (_, error, lost, busy) => {
    expect([isLost(error), isBusy(error)]).toEqual([lost, busy])
  },
)

it('a statement that only reads keeps an error that nobody expects', () => {
  const unexpected = failed('22012')
  expect(readingFailureOf(unexpected)).toBe(unexpected)
  expect(readingFailureOf(failed('42501'))).toMatchObject({ id: 'rights-missing' })
})

describe('a connection that was not opened', () => {
  const opened = (error: unknown) => notOpened('postgres://host/db', error)

  it.each<[string, unknown, string, string]>([
    ['an unknown host', failed('ENOTFOUND'), 'warehouse-not-reached', 'cannot be reached'],
    ['a server that starts', failed('57P03'), 'warehouse-not-reached', 'accepts no connection now'],
    ['a wrong password', failed('28P01'), 'warehouse-not-opened', 'the role and its password'],
    ['an unknown database', failed('3D000'), 'warehouse-not-opened', 'Check the address'],
    [
      'an unknown certificate',
      failed('SELF_SIGNED_CERT_IN_CHAIN'),
      'warehouse-not-opened',
      'NODE_EXTRA_CA_CERTS',
    ],
    [
      'a server without TLS',
      new Error('The server does not support SSL connections'),
      'warehouse-not-opened',
      'sslmode=disable',
    ],
  ])('because of %s says what to do', (_, error, id, words) => {
    expect(opened(error)).toMatchObject({ id, message: expect.stringContaining(words) })
  })

  it('keeps a failure of ours', () => {
    const ours = new ConnectorError('config', 'password-missing', 'x')
    expect(opened(ours)).toBe(ours)
  })
})
