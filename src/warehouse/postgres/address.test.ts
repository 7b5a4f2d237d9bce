import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isPostgresAddress, parseAddress, passwordFor, shownAddress } from './address.ts'

const PLAIN = {
  host: 'db.example.com',
  port: 5432,
  user: 'loader',
  database: 'hr',
  schema: 'protime',
  encryption: 'checked',
} as const

test.each([
  ['postgres://loader@db.example.com/hr', PLAIN],
  ['postgresql://loader@db.example.com:5432/hr?schema=protime', PLAIN],
  [
    'postgres://loader@db.example.com:6432/hr?schema=acme&sslmode=require',
    { ...PLAIN, port: 6432, schema: 'acme', encryption: 'unchecked' },
  ],
  ['postgres://loader@db.example.com/hr?sslmode=disable', { ...PLAIN, encryption: 'none' }],
  ['postgres://loader@127.0.0.1/hr', { ...PLAIN, host: '127.0.0.1', encryption: 'none' }],
  ['postgres://loader@localhost/hr', { ...PLAIN, host: 'localhost', encryption: 'none' }],
  ['postgres://loader@[::1]:5433/hr', { ...PLAIN, host: '::1', port: 5433, encryption: 'none' }],
  [
    'postgres://loader@localhost/hr?sslmode=verify-full',
    { ...PLAIN, host: 'localhost', encryption: 'checked' },
  ],
  [
    'postgres://loader@%2Fvar%2Frun%2Fpostgresql/hr',
    { ...PLAIN, host: '/var/run/postgresql', encryption: 'none' },
  ],
  [
    'postgres://first%20last@db.example.com/100%25%2Fhr',
    { ...PLAIN, user: 'first last', database: '100%/hr' },
  ],
])('%s is read', (text, address) => {
  expect(parseAddress(text)).toEqual(address)
  expect(parseAddress(`${shownAddress(parseAddress(text))}&sslmode=disable`)).toEqual({
    ...address,
    encryption: 'none',
  })
})

test.each([
  ['postgres://loader:s3cret-word@db.example.com/hr', 'password-in-address'],
  ['postgres://loader@db.example.com/hr?password=s3cret-word', 'password-in-address'],
  ['postgres://db.example.com/hr', 'address-not-valid'],
  ['postgres://loader@db.example.com', 'address-not-valid'],
  ['postgres://loader@db.example.com/', 'address-not-valid'],
  ['postgres://loader@/hr', 'address-not-valid'],
  ['postgres://loader@db.example.com:port/hr', 'address-not-valid'],
  ['postgres://loader@db.example.com/hr/other', 'address-not-valid'],
  ['postgres://loader@db.example.com/hr#s3cret-word', 'address-not-valid'],
  ['postgres://loader@db.example.com/%s3cret-word', 'address-not-valid'],
  ['postgres://loader@db.example.com/hr?schema=Protime', 'address-not-valid'],
  ['postgres://loader@db.example.com/hr?schema=pg_own', 'address-not-valid'],
  [`postgres://loader@db.example.com/hr?schema=${'s'.repeat(56)}`, 'address-not-valid'],
  ['postgres://loader@db.example.com/hr?sslmode=prefer', 'address-not-valid'],
  ['postgres://loader@db.example.com/hr?sslmode=toString', 'address-not-valid'],
  ['postgres://loader@db.example.com/hr?options=s3cret-word', 'address-not-valid'],
])('%s is refused without being repeated', (text, id) => {
  let refused: unknown
  try {
    parseAddress(text)
  } catch (error) {
    refused = error
  }
  expect(refused).toMatchObject({ failure: 'config', id })
  expect(String(refused)).not.toMatch(/s3cret|db\.example/)
})

test.each([
  ['postgres://loader@db/hr', true],
  ['POSTGRESQL://loader@db/hr', true],
  ['postgres.duckdb', false],
  ['./postgres:/hr.duckdb', false],
])('whether %s is meant as an address: %s', (text, isMeant) => {
  expect(isPostgresAddress(text)).toBe(isMeant)
})

/** The password for `PLAIN` with a password file of these lines. */
function passwordWith(lines: readonly string[], env = {}, mode = 0o600) {
  const folder = mkdtempSync(join(tmpdir(), 'pgpass-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, '.pgpass')
  writeFileSync(path, lines.join('\n'))
  chmodSync(path, mode)
  return passwordFor(PLAIN, { HOME: folder, ...env })
}

test.each([
  ['the line of the database', ['*:*:other:*:wrong', 'db.example.com:5432:hr:loader:right-word']],
  ['the first of two lines', ['*:*:*:*:right-word', 'db.example.com:5432:hr:loader:wrong']],
  [
    'a line after comments',
    ['#db.example.com:5432:hr:loader:wrong', '', '*:*:*:loader:right-word'],
  ],
])('the password is that of %s', (_what, lines) => {
  expect(passwordWith(lines)).toBe('right-word')
})

test('colons and backslashes of a password file are escaped', () => {
  expect(passwordWith(['*:*:*:*:a\\:b\\\\c'])).toBe('a:b\\c')
})

test('the environment comes before the password file, and names it', () => {
  expect(passwordWith(['*:*:*:*:of-the-file'], { PGPASSWORD: 'of-the-environment' })).toBe(
    'of-the-environment',
  )
  expect(passwordWith(['*:*:*:*:word'], { PGPASSFILE: '/nowhere/pgpass' })).toBe(undefined)
})

test('a password file of others than the user is refused', () => {
  expect(() => passwordWith(['*:*:*:*:word'], {}, 0o640)).toThrow(
    expect.objectContaining({ failure: 'config', id: 'password-file-open' }),
  )
})
