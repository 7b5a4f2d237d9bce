import { parseArgs } from 'node:util'
import { type Emulator, startEmulator } from './emulator.ts'
import type { EmulatorOptions, RateLimit } from './options.ts'

/** The flags with their help; those with `numbers` take one, the others a text, `switches` none. */
const flags: Readonly<Record<string, string>> = {
  port: 'port of the service (0: any free one; default 4010)',
  'control-port': 'port of the control endpoint (0: any free one; default 4011)',
  people: 'number of people (default 25; 0: an empty tenant)',
  months: 'months of records up to now (default 2)',
  seed: 'another seed is another tenant (default 1)',
  now: 'start of the virtual clock (default 2026-11-20T03:00:00Z)',
  dialect: 'documentation (default) or specification',
  'api-name': 'name of the API in paths and scopes',
  'page-size': 'records per page (default 100)',
  'delta-page-size': 'changes per page of a delta (default 0: all)',
  'used-delta-link': 'answers (default), conflict or gone',
  'leaving-row': 'delete (default), update or nothing',
  'second-start': 'replaces (default) or conflict',
  expiry: 'last-use or age',
  'token-seconds': 'lifetime of an access token (default 1800)',
  'rate-limit': 'requests per second, and how many at once: 10 or 10/50',
  'latency-ms': 'milliseconds before each answer (default 0)',
  compress: 'compress answers for clients that accept it',
  'delta-log': 'report every change in a delta, not the latest states',
  'net-delta': 'leave records out of a delta that came and went since its link was given',
  'plain-delta-items': 'inserted and updated delta items come as plain records',
  help: 'show this text',
}

const numbers = [
  'port',
  'control-port',
  'people',
  'months',
  'seed',
  'page-size',
  'delta-page-size',
  'token-seconds',
  'latency-ms',
]
const choices: Readonly<Record<string, readonly string[]>> = {
  dialect: ['documentation', 'specification'],
  'used-delta-link': ['answers', 'conflict', 'gone'],
  'leaving-row': ['delete', 'update', 'nothing'],
  'second-start': ['replaces', 'conflict'],
  expiry: ['last-use', 'age'],
}
const switches = ['compress', 'delta-log', 'net-delta', 'plain-delta-items', 'help']

/**
 * Runs the emulator until SIGTERM or SIGINT; a wrong flag or a busy port is a sentence on stderr
 * and exit code 1.
 */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const given = parseFlags(args)
    if (given['help']) return say(help())
    const emulator = await startEmulator({ port: 4010, controlPort: 4011, ...optionsOf(given) })
    say(introduction(emulator))
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => emulator.close())
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\nTry --help.\n`)
    process.exitCode = 1
  }
}

/**
 * The options that the flags name: `--page-size 5` is `{ pageSize: 5 }`. Throws a sentence for a
 * wrong value.
 */
export function optionsOf(given: Readonly<Record<string, string | boolean>>): EmulatorOptions {
  const entries = Object.entries(given).map(([flag, value]) => {
    const name = flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    const allowed = choices[flag]
    if (allowed && !allowed.includes(String(value))) {
      throw new RangeError(`--${flag} takes ${allowed.join(' or ')}, not "${value}"`)
    }
    if (flag === 'rate-limit') return [name, rateLimitOf(String(value))]
    return [name, numbers.includes(flag) ? numberOf(flag, value) : value]
  })
  return Object.fromEntries(entries)
}

function parseFlags(args: readonly string[]): Record<string, string | boolean> {
  const options = Object.fromEntries(
    Object.keys(flags).map((flag) => [
      flag,
      { type: switches.includes(flag) ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  return { ...parseArgs({ args: [...args], options }).values } as Record<string, string | boolean>
}

function numberOf(flag: string, value: string | boolean): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 0) {
    throw new RangeError(`--${flag} takes a whole number, not "${value}"`)
  }
  if (flag === 'page-size' && number === 0) throw new RangeError('--page-size takes 1 or more')
  return number
}

function rateLimitOf(text: string): RateLimit {
  const [perSecond = 0, bucket = perSecond] = text.split('/').map(Number)
  if (!(perSecond > 0) || !(bucket >= 1)) {
    throw new RangeError(`--rate-limit takes 10 or 10/50, not "${text}"`)
  }
  return { perSecond, bucket }
}

function help(): string {
  const lines = Object.entries(flags).map(([flag, text]) => `  --${flag.padEnd(20)}${text}`)
  return [
    'Usage: protime-emulator [options]',
    '',
    'The whole service on loopback, with invented people and their days.',
    '',
    ...lines,
  ].join('\n')
}

function introduction(emulator: Emulator): string {
  const [client] = emulator.options.clients
  return [
    `Service        ${emulator.url}`,
    `Control        ${emulator.controlUrl}`,
    `Client id      ${client?.id}`,
    `Client secret  ${client?.secret}`,
    '',
    'A configuration for the connector:',
    JSON.stringify(emulator.config(), null, 2),
  ].join('\n')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
