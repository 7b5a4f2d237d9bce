import { describe, expect, it } from 'vitest'
import { ReceivedBody } from './response-body.ts'

const MEBIBYTE = 1024 * 1024
const LATER = Number.POSITIVE_INFINITY

/** A body whose source has `parts` of a mebibyte, and sends one per turn while it is not paused. */
function bodyOf(parts: number) {
  const told: string[] = []
  const source = { isPaused: false, sent: 0 }
  const body = new ReceivedBody(
    {
      pause() {
        source.isPaused = true
        told.push('pause')
      },
      resume() {
        source.isPaused = false
        told.push('resume')
        setImmediate(send)
      },
      abort: (reason) => void told.push(`abort: ${reason.message}`),
    },
    (error) => new Error(`Broken: ${error.message}`),
  )
  const send = () => {
    if (source.isPaused) return
    if (source.sent === parts) return body.end()
    source.sent++
    body.push(Buffer.alloc(MEBIBYTE))
    setImmediate(send)
  }
  setImmediate(send)
  return { body, source, told }
}

describe('a body that arrives faster than it is read', () => {
  it('pauses its source until its reader comes back, at any size', async () => {
    const { body, source } = bodyOf(40)
    let read = 0
    for await (const part of body) {
      read += part.length
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      expect(source.sent - read / MEBIBYTE).toBeLessThanOrEqual(2)
    }
    expect(read).toBe(40 * MEBIBYTE)
  })

  it('waits after its beginning was collected, and goes on when the rest is read', async () => {
    const { body, source } = bodyOf(20)
    const { parts, state } = await body.collect(4 * MEBIBYTE, LATER)
    expect([parts.length, state]).toEqual([5, 'large'])
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    expect(source.sent).toBe(5)
    let rest = 0
    for await (const part of body) rest += part.length
    expect(rest).toBe(15 * MEBIBYTE)
  })
})

describe('a body in parts of one byte', () => {
  it('is put together on its way', async () => {
    const { body } = bodyOf(0)
    for (let i = 0; i < 100_000; i++) body.push(Buffer.from([i % 251]))
    body.push(Buffer.alloc(5000, 7))
    body.push(Buffer.from([8]))
    const { parts } = await body.collect(MEBIBYTE, LATER)
    expect(parts.length).toBeLessThan(10)
    const whole = [...Array.from({ length: 100_000 }, (_, i) => i % 251), ...Array(5000).fill(7), 8]
    expect(Buffer.concat(parts).equals(Buffer.from(whole))).toBe(true)
  })
})

describe('a body that is collected', () => {
  it('is whole when it ends at the bound', async () => {
    const { parts, state } = await bodyOf(4).body.collect(4 * MEBIBYTE, LATER)
    expect([parts.length, state]).toEqual([4, 'whole'])
  })

  it('is late when a part arrives after the time', async () => {
    expect((await bodyOf(4).body.collect(4 * MEBIBYTE, 0)).state).toBe('late')
  })

  it('fails when it breaks', async () => {
    const { body } = bodyOf(1000)
    setTimeout(() => body.fail(new Error('reset')))
    await expect(body.collect(5000 * MEBIBYTE, LATER)).rejects.toThrow('Broken: reset')
  })
})

describe('a body that nobody wants any more', () => {
  it('aborts its source once, when its reader leaves', async () => {
    const { body, told } = bodyOf(40)
    for await (const _ of body) break
    body.discard(new Error('again'))
    expect(told.filter((what) => what.startsWith('abort'))).toHaveLength(1)
  })

  it('aborts nothing when it has ended', async () => {
    const { body, told } = bodyOf(1)
    await body.collect(MEBIBYTE, LATER)
    body.discard(new Error('not wanted'))
    expect(told).toEqual([])
  })
})
