import { type ByteSink, copy } from './byte-sink.ts'

/** Appends what replaces the value that stands in `from` between two positions. */
export type ValueWriter = (from: Buffer, start: number, end: number, sink: ByteSink) => void

/** How many values are remembered at most: a power of two. */
const PLACES = 65_536
/** Room for values and what replaces them; when it is full, all are forgotten. */
const ROOM = 8 * 1024 * 1024
/** Longer ones are not remembered. */
const LONGEST = 255

/**
 * Remembers in one piece of memory what a replacement answered: the same few thousand values come again
 * and again, and neither a text nor an object is made to look one up.
 */
export function createValueWriter(replace: (json: string) => string): ValueWriter {
  const places = new Uint32Array(PLACES)
  let memory: Buffer | undefined
  let used = 1
  return (from, start, end, sink) => {
    const place = placeOf(from, start, end)
    const at = places[place] as number
    if (at > 0 && memory !== undefined && isEqual(memory, at, from, start, end)) {
      const text = at + 2 + (memory[at] as number)
      copy(memory, text, text + (memory[at + 1] as number), sink)
      return
    }
    const text = Buffer.from(replace(from.toString('utf8', start, end)))
    copy(text, 0, text.length, sink)
    if (end - start > LONGEST || text.length > LONGEST) return
    memory ??= Buffer.allocUnsafe(ROOM)
    if (used + 2 + 2 * LONGEST > ROOM) {
      places.fill(0)
      used = 1
    }
    places[place] = used
    memory[used++] = end - start
    memory[used++] = text.length
    used += from.copy(memory, used, start, end)
    used += text.copy(memory, used)
  }
}

/** FNV-1a, cut to the places. */
function placeOf(from: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (from[at] as number), 0x01000193)
  return (hash ^ (hash >>> 16)) & (PLACES - 1)
}

function isEqual(memory: Buffer, at: number, from: Buffer, start: number, end: number): boolean {
  if (memory[at] !== end - start) return false
  for (let i = start, j = at + 2; i < end; i++, j++) if (memory[j] !== from[i]) return false
  return true
}
