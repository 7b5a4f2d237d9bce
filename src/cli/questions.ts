import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { ConnectorError } from '../ground/errors.ts'

/** A terminal, or any input with one answer per line. */
export interface Asked {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stderr: Writable
  readonly signal: AbortSignal
}

/** Asks questions one after another. */
export interface Questions {
  /** Asks until there is an answer, or uses the fallback for an empty one. */
  ask(question: string, fallback?: string): Promise<string>
  /** The same, without showing what is typed. */
  askSecret(question: string): Promise<string>
  close(): void
}

/** Asks on stderr, because stdout is for results. */
export function createQuestions({ stdin, stderr, signal }: Asked): Questions {
  const terminal = stdin.isTTY === true
  let isHidden = false
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isHidden) stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: stdin, output, terminal, signal })
  const iterator = lines[Symbol.asyncIterator]()
  return {
    async ask(question, fallback) {
      for (;;) {
        stderr.write(fallback === undefined ? `${question}: ` : `${question} (${fallback}): `)
        const answer = (await next()) || fallback
        if (answer !== undefined) return answer
      }
    },
    async askSecret(question) {
      for (;;) {
        stderr.write(`${question} (not shown): `)
        isHidden = true
        const answer = await next().finally(() => {
          isHidden = false
        })
        if (answer !== '') return answer
      }
    },
    close: () => lines.close(),
  }

  async function next(): Promise<string> {
    const { value, done } = await iterator.next()
    // Only a terminal itself shows the end of an answer.
    if (!terminal || isHidden || done === true) stderr.write('\n')
    if (done === true) {
      signal.throwIfAborted()
      throw new ConnectorError(
        'config',
        'answers-ended',
        'The answers ended before the last question. Nothing was written.',
      )
    }
    return value.trim()
  }
}
