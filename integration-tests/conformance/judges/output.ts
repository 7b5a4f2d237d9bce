import { formsOf, secretsOf } from '../secrets.ts'
import { errorsOf, type Fields, type Transcript } from '../transcript.ts'

const EVERYWHERE = ['LOG', 'TRACE', 'CONTROL']

/** What the platform takes from each command; the first of the list is the answer. */
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  spec: ['SPEC', ...EVERYWHERE],
  check: ['CONNECTION_STATUS', ...EVERYWHERE],
  discover: ['CATALOG', ...EVERYWHERE],
  read: ['RECORD', 'STATE', ...EVERYWHERE],
}

/** The protocol's answer to a command has to be among so many lines, or the platform guesses. */
const FIRST_LINES = 10

/** A line that is no message is dropped; glued to a record it takes the record with it. */
export function linesAreMessages({ command, lines, stdout }: Transcript): string[] {
  const faults = lines.flatMap(({ fault, text }, i) =>
    fault === undefined ? [] : [`${command}, line ${i + 1} (${text.slice(0, 60)}): ${fault}`],
  )
  if (stdout !== '' && !stdout.endsWith('\n')) faults.push(`${command}: the last line has no end`)
  return faults
}

/** The platform logs each line of stderr as an error. */
export function stderrIsQuiet({ command, stderr }: Transcript): string[] {
  return stderr === '' ? [] : [`${command} wrote to stderr: ${stderr.slice(0, 200)}`]
}

export function typesBelongToCommand({ command, messages }: Transcript): string[] {
  const types = new Set(messages.map(({ type }) => type))
  return [...types]
    .filter((type) => !(ACCEPTED[command] ?? []).includes(type))
    .map((type) => `${command} answers with a ${type}`)
}

/** No secret of the configuration anywhere, except in CONTROL, which carries it by design. */
export function nothingLeaks(
  { command, lines, stderr }: Transcript,
  { specification, config }: { specification: Fields; config: Fields },
): string[] {
  const forms = secretsOf(specification, config).flatMap(formsOf)
  const texts = lines.filter(({ message }) => message?.type !== 'CONTROL').map(({ text }) => text)
  return [...texts, stderr].flatMap((text, i) =>
    forms.some((form) => text.includes(form))
      ? [`${command} tells a secret in ${i < texts.length ? `line ${i + 1}` : 'stderr'}`]
      : [],
  )
}

/** `spec`, `check` and `discover` answer once, early, and with exit code 0. */
export function answersOnce(transcript: Transcript): string[] {
  const { command, exitCode, messages, lines } = transcript
  const [answer = ''] = ACCEPTED[command] ?? []
  const count = messages.filter(({ type }) => type === answer).length
  const first = lines.findIndex(({ message }) => message?.type === answer)
  const faults: string[] = []
  if (count !== 1) faults.push(`${command} gave ${count} ${answer} messages`)
  if (command === 'spec' && first >= FIRST_LINES) faults.push(`SPEC is line ${first + 1}`)
  if (exitCode !== 0) faults.push(`${command} ended with ${exitCode}`)
  if (errorsOf(transcript).length > 0) faults.push(`${command} reported an error`)
  return faults
}
