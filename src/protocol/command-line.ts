import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { ConnectorError } from '../ground/errors.ts'
import { jsonFault, repeatedMember } from '../ground/json.ts'
import { isBlank } from '../ground/text.ts'

/** Whether every request is logged, too: `LOG_LEVEL=debug`, or the option `--debug` after it was parsed. */
export interface DebugSwitch {
  isOn: boolean
}

/** Creates the switch with the setting of the environment. */
export function debugSwitch(env: Readonly<Record<string, string | undefined>>): DebugSwitch {
  return { isOn: env['LOG_LEVEL']?.toLowerCase() === 'debug' }
}

/** Adds the option `--debug` to a command, which turns the switch on. */
export function withDebug<C extends Command>(command: C, debug: DebugSwitch): C {
  return command
    .option('--debug', 'log every request as well, as LOG_LEVEL=debug does')
    .on('option:debug', () => {
      debug.isOn = true
    })
}

/** The config error for a command line that the parser rejects. */
export function refusedCommandLine(error: unknown): ConnectorError {
  const text = error instanceof Error ? error.message : String(error)
  const reason = text
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '')
  return new ConnectorError(
    'config',
    'command-line-not-valid',
    `The command line is not valid: ${reason}. Try --help.`,
  )
}

/**
 * Returns the value of a required option, or throws a config error. The parser does not do this check, because it
 * would report a missing option before a mistyped one.
 */
export function requiredOption(option: string, file: string | undefined): string {
  if (file !== undefined) return file
  throw refusedCommandLine(new Error(`the option ${option} is missing`))
}

/**
 * Reads the file that an option names, as UTF-8, or as UTF-16 with a byte order mark, which PowerShell on Windows
 * writes. Throws a config error if the file cannot be read.
 */
export async function readOption(option: string, file: string): Promise<string> {
  // A script passes an empty path for a variable that is not set.
  if (isBlank(file)) throw refusedCommandLine(new Error(`the option ${option} is empty`))
  try {
    const bytes = await readFile(file)
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      'file-not-readable',
      `The file given by ${option} cannot be read (${code}): ${file}.`,
    )
  }
}

/** Reads a JSON file that an option names. Throws a config error that quotes nothing of the content. */
export async function readJsonOption(option: string, file: string): Promise<unknown> {
  const text = await readOption(option, file)
  const value = parseJson(text, (place) => notJson(option, file, place))
  const repeated = repeatedMember(text)
  if (repeated === undefined) return value
  throw new ConnectorError(
    'config',
    'file-not-json',
    `The file given by ${option} has the duplicate key ${repeated.join('.')} (${file}), and it is not clear which value counts. Leave one of them out.`,
  )
}

/**
 * Like `readJsonOption`, but a file with several messages, one per line as a program prints them, becomes an array.
 */
export async function readMessagesOption(option: string, file: string): Promise<unknown> {
  return parseMessages(await readOption(option, file), (place) => notJson(option, file, place))
}

/** Throws the error for a text that is not JSON; `place` is for example "line 3, column 5". */
type Refuse = (place: string) => never

/** Parses a JSON text. */
function parseJson(text: string, refuse: Refuse): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return refuse(text.trim() === '' ? 'it is empty' : placeOf(text, jsonFault(text)))
  }
}

/** Parses a JSON text. If each line is a JSON text, the result is an array of all values. */
export function parseMessages(text: string, refuse: Refuse): unknown {
  const [first = '', second] = text.split('\n', 2)
  if (second === undefined || !isJson(first)) return parseJson(text, refuse)
  const lines = text.split('\n')
  const values = lines.flatMap((line, i) =>
    line.trim() === ''
      ? []
      : [parseJson(line, () => refuse(`line ${i + 1}, column ${jsonFault(line) + 1}`))],
  )
  return values.length === 1 ? values[0] : values
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

function notJson(option: string, file: string, place: string): never {
  throw new ConnectorError(
    'config',
    'file-not-json',
    `The file given by ${option} is not JSON (${file}, ${place}).`,
  )
}
