import {
  type OfferedStream,
  type ProtocolMessage,
  recordsOf,
  statesOf,
  type Transcript,
} from './transcript.ts'

/** A state within a read, and how many records of its stream came after it. */
export interface Checkpoint {
  readonly stream: OfferedStream
  readonly state: NonNullable<ProtocolMessage['state']>
  readonly remaining: number
  /** All records of the stream in that read. */
  readonly total: number
}

/** At most so many states of a stream are tested; CAT tests about as many (MIN_BATCHES_TO_TEST). */
const SAMPLE = 5

/**
 * The states to read from again, as CAT's test_read_sequential_slices chooses them: the distinct
 * states of the stream that count records, thinned out when there are many.
 */
export function sampleCheckpoints(
  transcript: Pick<Transcript, 'messages'>,
  stream: OfferedStream,
): Checkpoint[] {
  const total = recordsOf(transcript, stream.name).length
  let counted = 0
  const seen = new Set<string>()
  const checkpoints: Checkpoint[] = []
  for (const state of statesOf(transcript, stream.name)) {
    const count = state.sourceStats?.recordCount ?? 0
    counted += count
    const blob = JSON.stringify(state.stream?.stream_state)
    if (count === 0 || seen.has(blob)) continue
    seen.add(blob)
    checkpoints.push({ stream, state, remaining: total - counted, total })
  }
  const rate = Math.max(1, Math.ceil(checkpoints.length / SAMPLE))
  return checkpoints.filter((_, i) => i % rate === 0)
}
