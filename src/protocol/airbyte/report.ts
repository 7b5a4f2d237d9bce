import type { Mask } from '../../ground/mask.ts'
import type { Failure, Log, Tools } from '../connector.ts'
import type { LineWriter } from '../line-writer.ts'
import * as messages from './airbyte-messages.ts'

/** What a command works with. */
export interface CommandTools extends Tools {
  readonly writer: LineWriter
}

/** Writes a failure as a TRACE ERROR, secrets masked. */
export function report({ stream, error }: Failure, { mask, writer }: CommandTools): void {
  const { cause, failure, message, stack } = error
  const subject = stream === undefined ? '' : `${stream}: `
  const line = messages.error({
    message: mask.text(`${subject}${message}`),
    failure,
    stream,
    internal: cause instanceof Error ? mask.text(`${cause.name}: ${cause.message}`) : undefined,
    stack: failure === 'system' ? mask.text(causeStack(cause) ?? stack ?? '') : undefined,
  })
  void writer.write(`${line}\n`)
}

function causeStack(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.stack : undefined
}

/** LOG messages on stdout; DEBUG only when it is asked for. */
export function createLog(writer: LineWriter, mask: Mask, isDebug: boolean): Log {
  const say = (level: messages.Level) => (message: string) =>
    void writer.write(`${messages.log(level, mask.text(message))}\n`)
  return { info: say('INFO'), warn: say('WARN'), debug: isDebug ? say('DEBUG') : () => {} }
}
