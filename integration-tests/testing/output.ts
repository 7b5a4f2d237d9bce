import { Writable } from 'node:stream'

/** A stream that keeps all that is written to it. */
export interface Collector extends Writable {
  text(): string
}

/** Takes what a program says in this process. A `read()` at its end would give one chunk alone since Node 26. */
export function createCollector(): Collector {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return Object.assign(stream, { text: () => Buffer.concat(chunks).toString() })
}

/** The lines of the log of `protime` without their times; throws for one that begins with none. */
export function withoutTimes(log: string): string {
  return log.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ )?(?=.)/gm, (_, time?: string) => {
    if (time === undefined) throw new Error(`a line begins without a time:\n${log}`)
    return ''
  })
}

/** What a program wrote before its reader left. */
export interface CutOutput extends Writable {
  text(): string
  /** How many lines came in whole writes before the one that broke; undefined when none did. */
  wholeLines(): number | undefined
}

/** An output that breaks as a pipe does whose reader has read so many lines; 0 reads all of them. */
export function createCutOutput(lines: number): CutOutput {
  const parts: string[] = []
  let left = lines === 0 ? Number.POSITIVE_INFINITY : lines
  let wholeLines: number | undefined
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const text = chunk.toString('utf8')
      const before = parts.length
      for (const line of text.split('\n').slice(0, -1)) {
        if (left > 0) parts.push(`${line}\n`)
        left--
      }
      if (left <= 0) wholeLines ??= before
      done(left > 0 ? null : Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    },
  })
  return Object.assign(output, {
    text: () => parts.join(''),
    wholeLines: () => wholeLines,
  })
}
