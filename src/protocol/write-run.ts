import { ConnectorError } from '../ground/errors.ts'
import type { JsonObject } from '../ground/json.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { Failure, Tools } from './connector.ts'
import type { Destination, RecordOutcome, WriteSession } from './destination.ts'
import { InputFault, type InputMessage, type InputMessages } from './input-messages.ts'
import { deletionOf } from './sync-columns.ts'

/** A stream of the input, and the object to which its records are written. */
export interface WrittenStream {
  readonly name: string
  readonly object: string
}

/** Counts the records of one stream between two of its states. The counts are final after `settle`. */
export interface Tally {
  records: number
  rejected: number
}

/** The records that are being written, and the states that wait for them. */
export interface WriteRun {
  readonly session: WriteSession
  /** Adds a record to the session and to the tally of its stream. A record with a fault is rejected. */
  add(stream: WrittenStream, data: JsonObject, fault?: string): Promise<void>
  /** Returns and resets the tally of a stream. The returned tally changes until it is settled. */
  takeTally(stream: WrittenStream): Tally
  /**
   * Calls `pass` when every record added before has its final outcome. Never calls it in a dry run, or if a record of
   * one of these streams has to be sent again. If a rejected record is tolerated, it is called at the end of the run.
   */
  hold(streams: readonly WrittenStream[], pass: () => void): void
  /** Whether a state is waiting. */
  readonly isHolding: boolean
  /** Waits for the outcomes of all records, and passes on the states that they settle. */
  settle(): Promise<void>
  /**
   * Passes on the states that are already settled, so that their records are not sent again if the rest cannot be
   * written.
   */
  passSettled(): void
  /** Passes on the states that wait because of tolerated rejections. Called if the run succeeds. */
  passTolerated(): void
}

/** A state that waits for the outcomes of the records before it. */
interface HeldState {
  readonly streams: readonly WrittenStream[]
  /** The number of records that were added before the state. */
  readonly behind: number
  readonly pass: () => void
}

/** What a run needs. */
export interface WriteRunSettings<Config> {
  readonly destination: Destination<Config>
  readonly config: Config
  readonly tools: Tools
}

/** Opens the destination for the records of one input. */
export async function openWriteRun<Config>(settings: WriteRunSettings<Config>): Promise<WriteRun> {
  const { destination, config, tools } = settings
  const tallies = new Map<WrittenStream, Tally>()
  const unsettled = new Map<number, { readonly stream: WrittenStream; readonly tally: Tally }>()
  /** For each stream, the first record that has to be sent again. */
  const pending = new Map<WrittenStream, number>()
  /** For each stream, the first record whose rejection is tolerated, and the states that cover one. */
  const tolerated = new Map<WrittenStream, number>()
  const late: HeldState[] = []
  let held: HeldState[] = []
  let ordinal = 0
  const session = await destination.open(config, { ...tools, onOutcome })
  return {
    session,
    add,
    takeTally,
    hold: (streams, pass) => void held.push({ streams, behind: ordinal, pass }),
    get isHolding() {
      return held.length > 0
    },
    settle,
    passSettled,
    passTolerated,
  }

  async function add(stream: WrittenStream, data: JsonObject, fault?: string): Promise<void> {
    const tally = tallyOf(stream)
    tally.records++
    const deletion = fault === undefined ? deletionOf(data) : { fault }
    const record = {
      ordinal: ordinal++,
      object: stream.object,
      data,
      ...('fault' in deletion
        ? { isDelete: false, fault: deletion.fault }
        : { isDelete: deletion.isDeleted }),
    }
    unsettled.set(record.ordinal, { stream, tally })
    await session.add(record)
  }

  function takeTally(stream: WrittenStream): Tally {
    const tally = tallyOf(stream)
    tallies.delete(stream)
    return tally
  }

  async function settle(): Promise<void> {
    await session.flush()
    passSettled()
    if (unsettled.size > 0)
      throw new ConnectorError(
        'system',
        'outcomes-not-known',
        `The outcome of ${unsettled.size} records is not known, so no state is passed on.`,
      )
  }

  function passSettled(): void {
    const [oldest = ordinal] = unsettled.keys()
    const settled = held.filter(({ behind }) => behind <= oldest)
    held = held.slice(settled.length)
    if (session.isDryRun === true) return
    for (const state of settled) {
      if (covers(tolerated, state)) late.push(state)
      else if (!covers(pending, state)) state.pass()
    }
  }

  function passTolerated(): void {
    for (const state of late.splice(0)) if (!covers(pending, state)) state.pass()
  }

  function covers(
    first: ReadonlyMap<WrittenStream, number>,
    { streams, behind }: HeldState,
  ): boolean {
    return streams.some((stream) => (first.get(stream) ?? behind) < behind)
  }

  function onOutcome({ ordinal, rejection, isPending, isTolerated }: RecordOutcome): void {
    const record = unsettled.get(ordinal)
    if (record === undefined) return
    unsettled.delete(ordinal)
    const { stream, tally } = record
    for (const [first, isOne] of [
      [pending, isPending],
      [tolerated, isTolerated],
    ] as const)
      if (isOne) first.set(stream, Math.min(ordinal, first.get(stream) ?? ordinal))
    if (rejection === undefined) return
    tally.rejected++
    tools.log.warn(
      warningOf(
        'record-rejected',
        `${stream.name}: record ${ordinal + 1} was rejected: ${rejection}`,
      ),
    )
  }

  function tallyOf(stream: WrittenStream): Tally {
    const known = tallies.get(stream)
    if (known !== undefined) return known
    const tally = { records: 0, rejected: 0 }
    tallies.set(stream, tally)
    return tally
  }
}

/** How a protocol interprets its input. */
export interface InputReader {
  /** Handles one message; may wait. */
  handle(message: InputMessage): Promise<void> | undefined
  /** Called at the end: the objects of which this run got all records. */
  completeObjects(): readonly string[]
}

/**
 * Reads an input to its end, completes the objects that can be completed, and closes the session; returns the
 * failures that the session reports then. When no further line is ready, it settles the records that were read and
 * passes on their states before it waits for more input. If a line is damaged, everything before it is settled first.
 */
export async function writeInput(
  input: InputMessages,
  run: WriteRun,
  { handle, completeObjects }: InputReader,
): Promise<readonly Failure[]> {
  const { session } = run
  let failures: readonly Failure[] = []
  try {
    await readToEnd(input, run, handle)
    for (const object of completeObjects()) await session.complete(object)
  } finally {
    failures = await session.close()
  }
  if (failures.length === 0 && session.failed.size === 0) run.passTolerated()
  return failures
}

async function readToEnd(
  input: InputMessages,
  run: WriteRun,
  handle: InputReader['handle'],
): Promise<void> {
  try {
    for (;;) {
      if (run.isHolding && !input.isReady) await run.settle()
      const message = await input.next()
      if (message === undefined) break
      await handle(message)
    }
    await run.settle()
  } catch (error) {
    if (error instanceof InputFault) await run.settle()
    else run.passSettled()
    throw error
  }
}
