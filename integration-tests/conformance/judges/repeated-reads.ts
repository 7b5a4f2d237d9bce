import type { SampledRead } from '../evidence.ts'
import { type OfferedStream, recordsOf, type Transcript } from '../transcript.ts'
import { keyText } from './records.ts'

type Streams = readonly OfferedStream[]

/** CAT's test_sequential_reads: time goes on, and what was there is there again. */
export function secondReadRepeats(
  first: Transcript,
  second: Transcript,
  streams: Streams,
): string[] {
  const latest = Math.max(...recordsOf(first).map(({ emitted_at }) => emitted_at))
  const earliest = Math.min(...recordsOf(second).map(({ emitted_at }) => emitted_at))
  const faults =
    latest < earliest ? [] : ['the second read has records from before the first ended']
  for (const stream of streams) {
    const again = keysOf(second, stream)
    const lost = [...keysOf(first, stream)].filter((key) => !again.has(key))
    if (lost.length > 0) faults.push(`the second read lacks ${lost.length} of ${stream.name}`)
  }
  return faults
}

/** CAT's test_two_sequential_reads: the state of the first read saves the second one work. */
export function stateIsUsed(first: Transcript, second: Transcript, streams: Streams): string[] {
  return streams.flatMap(({ name }) => {
    const before = recordsOf(first, name).length
    const after = recordsOf(second, name).length
    if (before === 0) return [`${name} has no record to continue from`]
    return after < before ? [] : [`${name} sends ${after} records again, after ${before}`]
  })
}

/** CAT's test_read_sequential_slices: what came after a state comes again from it, and not all. */
export function statesCanBeContinued(reads: readonly SampledRead[]): string[] {
  return reads.flatMap(({ checkpoint: { stream, remaining, total }, transcript }) => {
    const count = recordsOf(transcript, stream.name).length
    const where = `${stream.name}, from a state with ${remaining} of ${total} records after it,`
    if (transcript.exitCode !== 0) return [`${where} ends with ${transcript.exitCode}`]
    if (count < remaining) return [`${where} sends ${count}`]
    return count >= total ? [`${where} sends everything again (${count})`] : []
  })
}

/** CAT: a stream whose states all count nothing cannot be judged, so it is a fault. */
export function everyStreamWasSampled(reads: readonly SampledRead[], streams: Streams): string[] {
  const sampled = new Set(reads.map(({ checkpoint }) => checkpoint.stream.name))
  return streams
    .filter(({ name }) => !sampled.has(name))
    .map(({ name }) => `${name} has no state that counts records`)
}

/** The same rows, whatever the circumstances. */
export function readsAreAlike(usual: Transcript, other: Transcript, streams: Streams): string[] {
  const faults = other.exitCode === usual.exitCode ? [] : [`the read ended with ${other.exitCode}`]
  for (const stream of streams) {
    const before = recordsOf(usual, stream.name).length
    const after = recordsOf(other, stream.name).length
    if (before !== after) faults.push(`${stream.name} has ${after} records instead of ${before}`)
  }
  return faults
}

function keysOf(transcript: Transcript, stream: OfferedStream): Set<string> {
  return new Set(recordsOf(transcript, stream.name).map(({ data }) => keyText(stream, data)))
}
