import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message } from '../airbyte-message.ts'
import { EXECUTABLE, readArguments } from '../live-process.ts'

/** What a run came to; records are counted and thrown away. */
export interface Counted {
  readonly exitCode: number | null
  readonly records: number
  readonly bytes: number
  readonly messages: readonly Message[]
}

/** Reads a stream with the real executable, however much it is. */
export async function readCounted(config: object, stream: string): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), 'counted-'))
  try {
    const child = spawn(EXECUTABLE, readArguments(folder, config, [stream]), {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const sieve = createSieve()
    let bytes = 0
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      sieve.push(chunk)
    })
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    })
    return { exitCode, bytes, ...sieve.result() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const RECORD = Buffer.from('{"type":"RECORD"')

/** Counts the lines of records and keeps all others; no line is ever held in memory whole. */
function createSieve() {
  let start: Buffer = Buffer.alloc(0)
  let isRecord = false
  let records = 0
  let others = ''
  return {
    push(chunk: Buffer): void {
      for (let at = 0; at < chunk.length; ) {
        const end = chunk.indexOf(10, at)
        take(chunk.subarray(at, end < 0 ? chunk.length : end), end >= 0)
        at = end < 0 ? chunk.length : end + 1
      }
    },
    result: () => ({
      records,
      messages: others
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Message),
    }),
  }

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
