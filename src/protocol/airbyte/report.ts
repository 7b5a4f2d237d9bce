import type { Mask } from '../../ground/mask.ts'
import { clean, LONGEST_ANSWER } from '../../ground/text.ts'
import type { DebugSwitch } from '../command-line.ts'
import type { Failure, Log, Tools } from '../connector.ts'
import type { LineWriter } from '../line-writer.ts'
import * as messages from './airbyte-messages.ts'

/** What a command gets. */
export interface CommandTools extends Tools {
  readonly writer: LineWriter
  /** Whether DEBUG messages are logged. */
  readonly debug: DebugSwitch
}

/** Writes a failure as a TRACE ERROR with masked secrets. */
export function report({ stream, error }: Failure, { mask, writer }: CommandTools): void {
  const { cause, failure, message, stack } = error
  const subject = stream === undefined ? '' : `${stream}: `
  const line = messages.error({
    message: clean(mask.text(`${subject}${message}`), LONGEST_ANSWER),
    failure,
    stream,
    internal:
      cause instanceof Error ? clean(mask.text(`${cause.name}: ${cause.message}`)) : undefined,
    stack: failure === 'system' ? mask.text(causeStack(cause) ?? stack ?? '') : undefined,
  })
  void writer.write(`${line}\n`)
}

function causeStack(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.stack : undefined
}

/** Writes LOG messages to stdout; DEBUG messages only while the switch is on. */
export function createLog(writer: LineWriter, mask: Mask, debug: DebugSwitch): Log {
  const say = (level: messages.Level) => (message: string) =>
    void writer.write(`${messages.log(level, clean(mask.text(message)))}\n`)
  const sayDebug = say('DEBUG')
  return {
    info: say('INFO'),
    warn: say('WARN'),
    debug: (message) => {
      if (debug.isOn) sayDebug(message)
    },
  }
}
