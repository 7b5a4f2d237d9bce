import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { defaultControl, defaultOf } from './control/control-server.ts'
import { checkValue, flagOf, type OptionFacts, optionFacts } from './control/option-facts.ts'
import { type Emulator, startEmulator } from './emulator.ts'
import type { EmulatorOptions, RateLimit } from './options.ts'

/** The column in which the texts of `--help` begin, beside the flags. */
const flagWidth = 25

const flags = Object.entries(optionFacts).filter(([, { hasNoFlag }]) => !hasNoFlag)

/**
 * Runs the emulator until SIGTERM or SIGINT; for a wrong flag or a busy port it prints a message on stderr
 * and ends with exit code 1.
 */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const given = parseFlags(args)
    const { help: wantsHelp, 'write-config': configFile, ...named } = given
    if (wantsHelp) return say(help())
    const emulator = await startEmulator({ port: 4010, controlPort: 4011, ...optionsOf(named) })
    if (typeof configFile === 'string') {
      try {
        writeConfig(emulator, configFile)
      } catch (error) {
        await emulator.close()
        throw error
      }
    }
    say(introduction(emulator))
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => emulator.close())
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\nTry --help.\n`)
    process.exitCode = 1
  }
}

/**
 * The options of the flags: `--page-size 5` is `{ pageSize: 5 }`. Throws an error for a wrong value.
 */
export function optionsOf(given: Readonly<Record<string, string | boolean>>): EmulatorOptions {
  const entries = Object.entries(given).map(([flag, text]) => {
    const [name, facts] = flags.find(([option]) => flagOf(option) === flag) ?? []
    if (name === undefined || facts === undefined) throw new RangeError(`There is no --${flag}`)
    const value = read(facts, text)
    checkValue(`--${flag}`, facts, value, text)
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** The flags of a command line with their texts; throws for an unknown one. */
export function parseFlags(args: readonly string[]): Record<string, string | boolean> {
  const options = Object.fromEntries(
    flags.map(([name, { takes }]) => [
      flagOf(name),
      { type: takes === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const { values } = parseArgs({
    args: [...args],
    options: { ...options, 'write-config': { type: 'string' }, help: { type: 'boolean' } },
  })
  return { ...values } as Record<string, string | boolean>
}

function read({ takes }: OptionFacts, text: string | boolean): unknown {
  if (takes === 'count' || takes === 'size') return Number(text)
  return takes === 'rate' ? rateLimitOf(String(text)) : text
}

function rateLimitOf(text: string): RateLimit {
  const [perSecond = 0, bucket = perSecond] = text.split('/').map(Number)
  return { perSecond, bucket }
}

/** What `--help` prints. */
export function help(): string {
  const lines = [
    ...flags.map(([name, facts]) => helpLine(name, facts)),
    `  ${'--write-config'.padEnd(flagWidth)}file to write the configuration to; an existing file stays as it is`,
    `  ${'--help'.padEnd(flagWidth)}show this text`,
  ]
  return [
    'Usage: protime-emulator [options]',
    '',
    'The endpoints of the service on loopback, with invented people and their days. Webhooks are',
    'delivered to loopback only.',
    '',
    ...lines,
    '',
    'The control endpoint changes data, moves the clock and lets requests fail while the emulator',
    `runs: curl ${defaultControl}/ lists its commands with examples; docs/emulator.md explains them.`,
  ].join('\n')
}

function helpLine(name: string, { text, takes }: OptionFacts): string {
  const values = typeof takes === 'string' ? '' : `${takes.join(', ')}; `
  const known = takes === 'switch' ? '' : ` (${values}default ${defaultOf(name)})`
  return wrapped(`${text.replaceAll('`', '')}${known}`)
    .map((line, i) => (i === 0 ? `--${flagOf(name)}` : '').padEnd(flagWidth) + line)
    .map((line) => `  ${line}`)
    .join('\n')
}

/** Breaks a text into lines that fit beside the flags. */
function wrapped(text: string): string[] {
  return text.match(/\S.{0,71}(?=\s|$)/g) ?? []
}

/**
 * Writes the configuration to a file that only its owner may read. A file with other content is not changed,
 * because it may be the configuration of a real tenant; then the emulator ends.
 */
function writeConfig(emulator: Emulator, file: string): void {
  const text = configText(emulator)
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (readFileSync(file, 'utf8') !== text)
      throw new Error(`${file} exists with other content. Name another file.`)
  }
}

function configText(emulator: Emulator): string {
  return `${JSON.stringify(emulator.config(), null, 2)}\n`
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
    configText(emulator).trimEnd(),
  ].join('\n')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
