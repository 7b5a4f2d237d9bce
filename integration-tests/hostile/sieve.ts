import { Writable } from 'node:stream'
import type { Message } from '../testing/airbyte-messages.ts'
import { parseLines } from '../testing/run.ts'

/** What a program said; records are counted and thrown away. */
export interface Sifted {
  readonly records: number
  readonly bytes: number
  readonly messages: readonly Message[]
}

const RECORD = Buffer.from('{"type":"RECORD"')

/** An output that counts the lines of records and keeps all others; none is held in memory whole. */
export function createSieve(): Writable & { result(): Sifted } {
  let start: Buffer = Buffer.alloc(0)
  let isRecord = false
  let records = 0
  let bytes = 0
  let others = ''
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      for (let at = 0; at < chunk.length; ) {
        const end = chunk.indexOf(10, at)
        take(chunk.subarray(at, end < 0 ? chunk.length : end), end >= 0)
        at = end < 0 ? chunk.length : end + 1
      }
      done()
    },
  })
  return Object.assign(output, {
    result: () => ({ records, bytes, messages: parseLines(others) }),
  })

  function take(part: Buffer, isEnd: boolean): void {
    if (!isRecord) start = Buffer.concat([start, part])
    isRecord ||= start.length >= RECORD.length && start.subarray(0, RECORD.length).equals(RECORD)
    if (!isEnd) return
    if (isRecord) records++
    else others += `${start.toString()}\n`
    start = Buffer.alloc(0)
    isRecord = false
  }
}
