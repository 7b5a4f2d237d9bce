import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import {
  ConnectionError,
  failureOf,
  isBusy,
  isLost,
  notOpened,
  readingFailureOf,
} from './failure.ts'

const failed = (code: unknown, message = 'what the server says') =>
  Object.assign(new Error(message), { code })
const failedIn = (routine: string, code = '0A000') => Object.assign(failed(code), { routine })
const ours = (id: 'in-use' | 'name-taken') => new ConnectorError('transient', id, 'x')

describe('the failure of a statement', () => {
  it.each<[string, unknown, string, string, boolean]>([
    ['a server that ends', failed('57P01'), 'transient', 'warehouse-not-reached', true],
    ['a server that starts', failed('57P03'), 'transient', 'warehouse-not-reached', true],
    ['a broken connection', failed('08006'), 'transient', 'warehouse-not-reached', true],
    ['a reset of the network', failed('ECONNRESET'), 'transient', 'warehouse-not-reached', true],
    ['a closed pipe', failed('EPIPE'), 'transient', 'warehouse-not-reached', true],
    [
      'a client without a connection',
      new Error('Connection terminated unexpectedly'),
      'transient',
      'warehouse-not-reached',
      true,
    ],
    ['too many connections', failed('53300'), 'transient', 'warehouse-not-reached', true],
    [
      'a server that follows another one',
      failed('25006'),
      'transient',
      'warehouse-not-reached',
      true,
    ],
    [
      'a server in recovery',
      failedIn('call_bool_check_hook'),
      'transient',
      'warehouse-not-reached',
      true,
    ],
    ['another feature that is missing', failed('0A000'), 'system', 'warehouse-not-written', false],
    [
      'another state from the same function',
      failedIn('call_bool_check_hook', '42P01'),
      'system',
      'warehouse-not-written',
      false,
    ],
    ['a date that is too late', failed('22008'), 'system', 'warehouse-not-written', false],
    ['a lock of another statement', failed('55P03'), 'transient', 'in-use', false],
    ['a deadlock', failed('40P01'), 'transient', 'in-use', false],
    ['a limit of the server', failed('53400'), 'system', 'warehouse-not-written', true],
    [
      'a view on a column that is repaired',
      failedIn('ATExecAlterColumnType'),
      'config',
      'objects-depend',
      false,
    ],
    [
      'a view on a column that is repaired, since PostgreSQL 16',
      failedIn('RememberAllDependentForRebuilding'),
      'config',
      'objects-depend',
      false,
    ],
    ['an object on a column that is repaired', failed('2BP01'), 'config', 'objects-depend', false],
    ['a missing right', failed('42501'), 'config', 'rights-missing', false],
    ['a full disk', failed('53100'), 'system', 'warehouse-not-written', true],
    ['a broken disk', failed('58030'), 'system', 'warehouse-not-written', true],
    ["a code of somebody's trigger", failed('P0053'), 'system', 'warehouse-not-written', false],
    ['a check that a row breaks', failed('23514'), 'system', 'warehouse-not-written', false],
    ['no server', new TypeError('x'), 'system', 'warehouse-not-written', false],
    ['a number in place of a code', failed(53100), 'system', 'warehouse-not-written', false],
    [
      'a sync that holds the warehouse',
      new ConnectionError('transient', 'in-use', 'x'),
      'transient',
      'in-use',
      true,
    ],
    ['another failure of ours', ours('name-taken'), 'transient', 'name-taken', false],
  ])(
    'of %s says who has to act, and whether all streams fail',
    (_, error, failure, id, isOfAll) => {
      expect(failureOf(error)).toMatchObject({ error: { failure, id }, isOfAll })
    },
  )

  const CONTINUES =
    'The warehouse has the rows of the last commit, and the next sync continues there.'
  it.each([
    [
      failed('57P01', 'terminating connection\nHINT: wait'),
      `The connection to the server was lost: terminating connection. ${CONTINUES}`,
    ],
    [failed('ECONNRESET', ''), `The connection to the server was lost: ECONNRESET. ${CONTINUES}`],
    [
      failed('55P03', 'the lock took too long'),
      `Somebody else's statement holds a lock that the warehouse needs: the lock took too long. ${CONTINUES}`,
    ],
    [
      failed('40001', 'could not serialize 17'),
      `Somebody else's statement holds a lock that the warehouse needs: PostgreSQL refuses a row with SQLSTATE 40001, and its message may quote a value. ${CONTINUES}`,
    ],
    [
      failed('42501', 'permission denied for table people'),
      'The role lacks a right on the warehouse: permission denied for table people. Give it the rights in docs/warehouse.md, "PostgreSQL".',
    ],
    [
      failed('53100', 'the device is out of room'),
      'The warehouse cannot be written: no space is left on the disk. The rows of the last commit are safe, and the next sync continues there.',
    ],
    [
      failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify'),
      'The warehouse cannot be written: unable to verify. The rows of the last commit are safe, and the next sync continues there.',
    ],
  ])('is told in words, with the first line of the server: %#', (error, message) => {
    expect(failureOf(error).error.message).toBe(message)
  })

  it.each([
    ['', failed('23514', 'Failing row contains (17, Ann)')],
    ['', failed('P0042', 'Not Ann')],
    [' (adults)', Object.assign(failed('23514', 'Ann'), { constraint: 'adults' })],
  ])('quotes no value of a row, only its SQLSTATE and constraint%s: %#', (constraint, error) => {
    expect(failureOf(error).error.message).toBe(
      `The warehouse cannot be written: PostgreSQL refuses a row with SQLSTATE ${error.code}${constraint}, and its message may quote a value. The rows of the last commit are safe, and the next sync continues there.`,
    )
  })

  it.each(['57P01', '55P03', '42501'])('has the error of the server as its cause: %s', (code) => {
    const error = failed(code)
    expect(failureOf(error).error.cause).toBe(error)
  })

  it('of rows has the error of the server as the cause of its cause', () => {
    const error = failed('23514')
    expect(failureOf(error).error.cause).toMatchObject({ cause: error })
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
  ['53400', failed('53400'), false, false],
  ['22008', failed('22008'), false, false],
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
  const REACH = 'The server of postgres://host/db cannot be reached'
  const CONTINUES =
    'The warehouse has the rows of the last commit, and the next sync continues there.'
  const OPEN = 'The warehouse postgres://host/db cannot be opened'
  const TLS =
    'Without sslmode, the connection is encrypted and the certificate is checked. Name the file of its authority in NODE_EXTRA_CA_CERTS, or add sslmode=require to the address, or sslmode=disable for no encryption.'
  const ADDRESS = 'Check the address given by --warehouse, the role and its password.'

  it.each<[string, unknown, string]>([
    ['an unknown host', failed('ENOTFOUND', 'who?'), `${REACH}: who?. ${CONTINUES}`],
    ['a host without words', failed('ENOTFOUND', ''), `${REACH}: ENOTFOUND. ${CONTINUES}`],
    ['no error at all', undefined, `${REACH}: no reason is given. ${CONTINUES}`],
    [
      'a server that starts',
      failed('57P03', 'starting up'),
      `The server of postgres://host/db accepts no connection now: starting up. ${CONTINUES}`,
    ],
  ])('because of %s can be opened later', (_, error, message) => {
    expect(opened(error)).toMatchObject({
      failure: 'transient',
      id: 'warehouse-not-reached',
      message,
      cause: error,
    })
  })

  it.each<[string, unknown, string]>([
    ['a wrong password', failed('28P01', 'wrong'), `${OPEN}: wrong. ${ADDRESS}`],
    ['an unknown database', failed('3D000', 'unknown'), `${OPEN}: unknown. ${ADDRESS}`],
    ['a wrong setting', failed('22023', 'wrong'), `${OPEN}: wrong. Nothing was written.`],
    ['a code of a trigger', failed('P0028', 'no'), `${OPEN}: no. Nothing was written.`],
    [
      'an unknown certificate',
      failed('SELF_SIGNED_CERT_IN_CHAIN', ''),
      `${OPEN}: SELF_SIGNED_CERT_IN_CHAIN. ${TLS}`,
    ],
    [
      'a server without TLS',
      new Error('The server does not support SSL connections'),
      `${OPEN}: The server does not support SSL connections. ${TLS}`,
    ],
  ])('because of %s says what to do', (_, error, message) => {
    expect(opened(error)).toMatchObject({
      failure: 'config',
      id: 'warehouse-not-opened',
      message,
      cause: error,
    })
  })

  it('is a failure of all streams, also in place of a connection that was lost', () => {
    for (const error of [failed('ECONNREFUSED'), failed('57P03'), failed('28P01')])
      expect(failureOf(opened(error)).isOfAll).toBe(true)
  })

  it('keeps a failure of ours', () => {
    const failure = ours('in-use')
    expect(opened(failure)).toBe(failure)
  })
})
