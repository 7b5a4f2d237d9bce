import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message } from '../airbyte-message.ts'
import { EXECUTABLE, readArguments } from '../live-process.ts'

// getrusage counts the memory of the parent before the program was loaded; the kernel's own
// high-water mark, where there is one, does not.
const REPORT = `
import { readFileSync, writeFileSync } from 'node:fs'
process.on('exit', () => {
  let kilobytes = process.resourceUsage().maxRSS
  try { kilobytes = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) } catch {}
  writeFileSync(process.env.PEAK_FILE, String(kilobytes))
})`

/** What a measured run came to; records are counted and thrown away. */
export interface Measured {
  readonly exitCode: number | null
  readonly peakMegabytes: number
  readonly records: number
  readonly bytes: number
  readonly messages: readonly Message[]
}

export interface MeasuredOptions {
  /** Reads at this speed at most, in bytes a second. */
  readonly bytesPerSecond?: number
  /** Reads as fast as it can after this time. */
  readonly slowForMs?: number
}

/** Reads a stream with the real executable and measures its peak memory. */
export async function readMeasured(
  config: object,
  stream: string,
  { bytesPerSecond, slowForMs = Number.POSITIVE_INFINITY }: MeasuredOptions = {},
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'measured-'))
  try {
    const child = spawn(EXECUTABLE, readArguments(folder, config, [stream]), {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT)}`,
        PEAK_FILE: join(folder, 'peak'),
      },
    })
    const sieve = createSieve()
    const since = performance.now()
    let bytes = 0
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      sieve.push(chunk)
      const elapsed = performance.now() - since
      if (bytesPerSecond === undefined || elapsed > slowForMs) return
      const early = (bytes / bytesPerSecond) * 1000 - elapsed
      if (early <= 0) return
      child.stdout.pause()
      setTimeout(() => child.stdout.resume(), early)
    })
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    })
    const peakMegabytes = Number(readFileSync(join(folder, 'peak'), 'utf8')) / 1000
    return { exitCode, peakMegabytes, bytes, ...sieve.result() }
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
