import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ConnectorError } from '../../ground/errors.ts'
import { isLoopback } from '../../ground/loopback.ts'

/** Where a warehouse in PostgreSQL is. The address never contains the password. */
export interface PostgresAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  /** The schema of the tables. The names of the other schemas begin with its name. */
  readonly schema: string
  readonly encryption: Encryption
}

/**
 * `checked`: TLS with a certificate of this host. `unchecked`: TLS with any certificate, which protects from listeners only.
 */
type Encryption = 'none' | 'unchecked' | 'checked'

const SSL_MODES = new Map<string, Encryption>([
  ['disable', 'none'],
  ['require', 'unchecked'],
  ['verify-full', 'checked'],
])

const SCHEME = /^postgres(ql)?:/i
/** A name that needs no quotes. Those of the other schemas have up to eight characters more, of 63. */
const SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,54}$/
const FORM = 'postgres://USER@HOST:PORT/DATABASE?schema=NAME&sslmode=MODE'

/** Whether the text that names a warehouse is meant as an address of PostgreSQL. */
export function isPostgresAddress(text: string): boolean {
  return SCHEME.test(text)
}

/** Reads an address. Throws a config error that does not repeat it: it may contain a password. */
export function parseAddress(text: string): PostgresAddress {
  if (!URL.canParse(text)) throw notValid(`It has the form ${FORM}.`)
  const url = new URL(text)
  if (url.password !== '' || url.searchParams.has('password')) throw passwordInAddress()
  const user = decoded(url.username)
  const host = decoded(url.hostname).replace(/^\[(.*)\]$/, '$1')
  const database = decoded(url.pathname.slice(1))
  if ([user, host, database].includes('')) throw notValid(`It has the form ${FORM}.`)
  if (url.hash !== '' || url.pathname.includes('/', 1))
    throw notValid('Write /, ? and # in the name of the database as %2F, %3F and %23.')
  const { schema = 'protime', sslmode, ...others } = Object.fromEntries(url.searchParams)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw notValid(`It has the parameter ${unknown}; there are only schema and sslmode.`)
  if (!SCHEMA.test(schema))
    throw notValid(
      'The name of the schema has small letters, digits and underscores, at most 55, and does not begin with pg_ or a digit.',
    )
  const port = Number(url.port || 5432)
  return { host, port, user, database, schema, encryption: encryptionOf(sslmode, url.hostname) }
}

function encryptionOf(mode: string | undefined, hostname: string): Encryption {
  // A host that begins with a slash is the folder of a Unix socket.
  const isHere = isLoopback(hostname) || decoded(hostname).startsWith('/')
  const encryption = SSL_MODES.get(mode ?? (isHere ? 'disable' : 'verify-full'))
  if (encryption === undefined)
    throw notValid(`sslmode is one of ${[...SSL_MODES.keys()].join(', ')}.`)
  return encryption
}

/** The address as a message names it. */
export function shownAddress({ user, host, port, database, schema }: PostgresAddress): string {
  const at = host.includes(':') ? `[${host}]` : encodeURIComponent(host)
  const [who, where] = [user, database].map(encodeURIComponent)
  return `postgres://${who}@${at}:${port}/${where}?schema=${schema}`
}

/**
 * The password: of PGPASSWORD, or of the password file of PostgreSQL's own programs. Undefined if there is none: some
 * servers need none.
 */
export function passwordFor(
  address: PostgresAddress,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return env['PGPASSWORD'] || passwordIn(passwordFile(env), address)
}

function passwordFile(env: Readonly<Record<string, string | undefined>>): string {
  if (env['PGPASSFILE']) return env['PGPASSFILE']
  return process.platform === 'win32'
    ? join(env['APPDATA'] ?? '.', 'postgresql', 'pgpass.conf')
    : join(env['HOME'] ?? homedir(), '.pgpass')
}

function passwordIn(path: string, address: PostgresAddress): string | undefined {
  if (!existsSync(path)) return undefined
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    throw new ConnectorError(
      'config',
      'password-file-open',
      `Other users of this machine may read the password file ${path}, so it is not used. Run chmod 600 on it.`,
    )
  const { host, port, database, user } = address
  const wanted = [host, String(port), database, user]
  for (const line of readFileSync(path, 'utf8').split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = (line.match(/(\\.|[^:\\])*(:|$)/g) ?? []).map(withoutEscapes)
    const isMeant = wanted.every((value, i) => fields[i] === '*' || fields[i] === value)
    if (isMeant && fields[4]) return fields[4]
  }
  return undefined
}

/** A field of a line, which ends with a colon or the line. */
function withoutEscapes(field: string): string {
  return field.replace(/:$/, '').replace(/\\(.)/g, '$1')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw notValid('A percent sign in it is written as %25.')
  }
}

function notValid(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    'address-not-valid',
    `The address of the PostgreSQL warehouse cannot be used. ${reason}`,
  )
}

function passwordInAddress(): ConnectorError {
  return new ConnectorError(
    'config',
    'password-in-address',
    'The address of the PostgreSQL warehouse has a password, which every user of this machine could see among the processes. Leave it out, and set PGPASSWORD or write it into the password file of PostgreSQL (~/.pgpass).',
  )
}
