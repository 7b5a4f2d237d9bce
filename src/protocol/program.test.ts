import { execFile, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLineWriter, OutputClosedError } from './line-writer.ts'
import { onSignals, runProgram, type SignalledProcess } from './program.ts'

describe('the end of a program', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** A process that notes how it was ended. */
  function processOf(pid: number) {
    const ends: string[] = []
    const self = Object.assign(new EventEmitter(), {
      pid,
      kill: (target: number, signal: string) => ends.push(`kill ${target} ${signal}`),
      exit: (code: number) => ends.push(`exit ${code}`),
    })
    const stops: string[] = []
    const signals = onSignals((signal) => stops.push(signal), self as unknown as SignalledProcess)
    return { self, ends, stops, signals }
  }

  describe('a signal', () => {
    it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])(
      '%s stops the work, and ends the process with the signal after the last lines',
      (signal) => {
        const { self, ends, stops, signals } = processOf(77)
        self.emit(signal, signal)
        expect([stops, ends]).toEqual([[signal], []])
        signals.finish()
        expect(ends).toEqual([`kill 77 ${signal}`])
        vi.runAllTimers()
        expect(ends).toHaveLength(1)
      },
    )

    it('ends the process within two seconds even if the last lines cannot be written', () => {
      const { self, ends } = processOf(77)
      self.emit('SIGTERM', 'SIGTERM')
      vi.advanceTimersByTime(2000)
      expect(ends).toEqual(['kill 77 SIGTERM'])
    })

    it('ends the process at once the second time', () => {
      const { self, ends, stops } = processOf(77)
      self.emit('SIGINT', 'SIGINT')
      self.emit('SIGINT', 'SIGINT')
      expect([stops, ends]).toEqual([['SIGINT'], ['kill 77 SIGINT']])
    })

    it.each([
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ])('%s ends the first process of a container by the exit code %i', (signal, code) => {
      const { self, ends, signals } = processOf(1)
      self.emit(signal, signal)
      signals.finish()
      expect(ends).toEqual([`exit ${code}`])
    })

    it('gives a server the time to end by itself that it asked for', () => {
      const { self, ends, signals } = processOf(77)
      signals.allow(20_000)
      self.emit('SIGTERM', 'SIGTERM')
      vi.advanceTimersByTime(19_000)
      signals.finish()
      vi.runAllTimers()
      expect(ends).toEqual([])

      const slow = processOf(78)
      slow.signals.allow(20_000)
      slow.self.emit('SIGTERM', 'SIGTERM')
      vi.advanceTimersByTime(20_000)
      expect(slow.ends).toEqual(['kill 78 SIGTERM'])
    })

    it('ends nothing if it never came', () => {
      const { self, ends, signals } = processOf(77)
      signals.finish()
      expect([ends, self.eventNames()]).toEqual([[], []])
    })
  })
})

it('goes on, and ends with its exit code, if its log cannot be written', async () => {
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EIO')) })
  const work = async () => {
    stderr.write('a line')
    await new Promise((resolve) => setTimeout(resolve, 10))
    return 4
  }
  expect(await runProgram({ stdout: new PassThrough(), stderr }, work, () => {})).toBe(4)
})

const built = join(
  dirname(createRequire(import.meta.url).resolve('#scan.wasm')),
  'src/protocol/line-writer.js',
)

interface Outcome {
  readonly stdout: string
  readonly stderr: string
}

/** The text of a program that has `writer`. */
function scriptOf(program: string): string {
  return `import { createLineWriter } from '${pathToFileURL(built)}'
    const writer = createLineWriter(process.stdout, { onGone: () => { process.exitCode = 7 } })
    ${program}`
}

/** Runs a program that has `writer`, with its output led through a shell pipe. */
function piped(program: string, behind: string): Promise<Outcome> {
  const script = scriptOf(program)
  const command = `set -o pipefail; "$NODE" --input-type=module -e "$SCRIPT" ${behind}`
  const env = { ...process.env, NODE: process.execPath, SCRIPT: script }
  return promisify(execFile)('bash', ['-c', command], { env })
}

describe('a line writer on a real pipe', () => {
  it('delivers every byte even if the program ends without a flush', async () => {
    const program = `for (let i = 0; i < 200_000; i++) writer.write(i + '\\n')`
    const { stdout } = await piped(program, `| (sleep 0.3; md5sum)`)
    const expected = await piped('', `; seq 0 199999 | md5sum`)
    expect(stdout).toBe(expected.stdout)
  })

  it('needs little memory while the reader does not read', async () => {
    const program = `
      let taken = 0
      setTimeout(() => console.error(taken), 300)
      for (; taken < 400; taken++) await writer.write(Buffer.alloc(256 * 1024, 'x\\n'))`
    const { stdout, stderr } = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      scriptOf(program),
    ])
    const [taken] = await once(stderr, 'data')
    // Two that are on their way, and what the pipe holds.
    expect(Number(taken)).toBeLessThan(5)
    let bytes = 0
    for await (const part of stdout) bytes += part.length
    expect(bytes).toBe(400 * 256 * 1024)
  })

  it('ends quietly with its exit code when the reader dies, even if its promises are not awaited', async () => {
    const program = `
      for (let i = 0; i < 100 && !writer.gone; i++) {
        writer.write('x'.repeat(100_000) + '\\n')
        await new Promise(setImmediate)
      }`
    await expect(piped(program, `| head -c 10`)).rejects.toMatchObject({
      code: 7,
      stdout: 'xxxxxxxxxx',
      stderr: '',
    })
  })

  it('rejects pending and later writes, and flushes, when the reader dies', async () => {
    const program = `
      const name = (error) => error.name
      let first
      while (!writer.gone) {
        first = writer.write('x'.repeat(600_000)) ?? first
        await new Promise(setImmediate)
      }
      const all = [first, writer.write('y'), writer.flush()]
      console.error((await Promise.all(all.map((promise) => promise.catch(name)))).join(' '))`
    await expect(piped(program, `| head -c 1`)).rejects.toMatchObject({
      stderr: 'OutputClosedError OutputClosedError OutputClosedError\n',
    })
  })

  it('also writes to a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'line-writer-'))
    try {
      const program = `for (let i = 0; i < 50_000; i++) await writer.write(i + '\\n')`
      await piped(program, `> '${join(folder, 'out')}'`)
      const lines = (await readFile(join(folder, 'out'), 'utf8')).split('\n')
      expect([lines.length, lines[0], lines[49_999]]).toEqual([50_001, '0', '49999'])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('does not hold back a single line', async () => {
    const reader = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] })
    void createLineWriter(reader.stdin).write('hello\n')
    const [answer] = await once(reader.stdout, 'data')
    expect(String(answer)).toBe('hello\n')
    reader.stdin.end()
    await once(reader, 'close')
  })
})

describe('a line writer', () => {
  it('keeps the lines of one call together, and the calls in order', async () => {
    const stream = new PassThrough()
    const writer = createLineWriter(stream)
    const big = Buffer.alloc(100_000, 'b')
    void writer.write('a1\n')
    void writer.write(Buffer.from('a2\n'))
    void writer.write(big)
    void writer.write('c\n')
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    await writer.flush()
    expect(Buffer.concat(chunks).toString()).toBe(`a1\na2\n${big}c\n`)
  })

  it('combines small writes', async () => {
    const sizes: number[] = []
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        sizes.push(chunk.length)
        done()
      },
    })
    const writer = createLineWriter(stream)
    for (let i = 0; i < 1000; i++) void writer.write('0123456789\n')
    await writer.flush()
    expect(sizes).toEqual([11_000])
  })

  it('asks to wait while more than 512 KiB are being written, but no longer', async () => {
    const finish: (() => void)[] = []
    const stream = new Writable({ write: (_chunk, _encoding, done) => void finish.push(done) })
    const writer = createLineWriter(stream)
    expect(writer.write(Buffer.alloc(512 * 1024))).toBeUndefined()
    const waiting = writer.write(Buffer.alloc(100_000))
    expect(waiting).toBeInstanceOf(Promise)
    expect(writer.write('more')).toBeInstanceOf(Promise)
    finish.shift()?.()
    await waiting
    expect(writer.write('again')).toBeUndefined()
  })

  it('flushes earlier writes, without waiting for later ones', async () => {
    const finish: (() => void)[] = []
    const stream = new Writable({ write: (_chunk, _encoding, done) => void finish.push(done) })
    const writer = createLineWriter(stream)
    void writer.write('before\n')
    const flushed = writer.flush()
    void writer.write(Buffer.alloc(100_000))
    let isFlushed = false
    void flushed.then(() => {
      isFlushed = true
    })
    await new Promise(setImmediate)
    expect(isFlushed).toBe(false)
    finish.shift()?.()
    await expect(flushed).resolves.toBeUndefined()
  })

  it('passes on the error of a full disk unchanged', async () => {
    const full = new Error('ENOSPC: no space left on device')
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(full) })
    const writer = createLineWriter(stream)
    void writer.write('line\n')
    await expect(writer.flush()).rejects.toBe(full)
  })

  it('reports once that the reader is gone', async () => {
    const onGone = vi.fn()
    const stream = new PassThrough()
    const writer = createLineWriter(stream, { onGone })
    stream.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    await new Promise((closed) => stream.once('close', closed))
    await expect(writer.write('line\n')).rejects.toBeInstanceOf(OutputClosedError)
    expect(onGone).toHaveBeenCalledTimes(1)
  })
})
