import type { KeyMembers } from '../protocol/stream-output.ts'
import type { Stream } from '../streams/collection.ts'
import { keyOf } from '../streams/streams.ts'
import type { Key } from './id-set.ts'
import type { StreamContext } from './stream-context.ts'

/** Deletes are written so many at a time. */
const CHUNK = 1000

/** Deletes what a complete reading did not meet, and so completes the generation. */
export async function emitDeletes({ reading, output }: StreamContext): Promise<void> {
  const { keys, stream, mode, generation } = reading
  if (mode === 'incremental') {
    // The records before the deletes do not leave without a STATE.
    let isFirst = true
    for (const gone of keys.gone()) {
      for (const chunk of chunks(gone.keys.keys())) {
        if (isFirst) await output.checkpoint()
        isFirst = false
        const rows = chunk.map((key) => members(key, stream))
        await output.deletes(rows, gone.version, generation)
      }
    }
    keys.commitDeletes()
  }
  if (!reading.isSettled && reading.replacesOlder) output.generationComplete(generation)
  reading.settle()
}

/** A key as the members of a JSON object: `"id":7`. */
function members(key: Key, stream: Stream): KeyMembers {
  const columns = keyOf(stream)
  const values = columns.length === 1 ? [String(key)] : texts(key)
  return columns.map((column, i) => `${JSON.stringify(column)}:${values[i]}`).join(',')
}

/** The JSON texts of a key of several columns, which the sets hold as a JSON array. */
function texts(key: Key): string[] {
  return (JSON.parse(String(key)) as unknown[]).map((value) => JSON.stringify(value))
}

function* chunks(keys: Iterable<Key>): Generator<Key[]> {
  let chunk: Key[] = []
  for (const key of keys) {
    chunk.push(key)
    if (chunk.length === CHUNK) {
      yield chunk
      chunk = []
    }
  }
  if (chunk.length > 0) yield chunk
}
