import { ConnectorError } from '../ground/errors.ts'
import type { JsonObject } from '../ground/json.ts'
import type { Failure, Tools } from './connector.ts'
import type { Destination, RecordOutcome, WriteSession } from './destination.ts'
import { InputFault, type InputMessage, type InputMessages } from './input-messages.ts'
import { lifeOf } from './sync-columns.ts'

/** A stream of the input, and the object that its records are written to. */
export interface WrittenStream {
  readonly name: string
  readonly object: string
}

/** The records of one stream between two of its states; both numbers are final once it is settled. */
export interface Tally {
  records: number
  rejected: number
}

/** The records of an input on their way to the destination, and the states that wait for them. */
export interface WriteRun {
  readonly session: WriteSession
  /** Adds a record of a stream to the session, and to the stream's tally; with a fault it is rejected. */
  add(stream: WrittenStream, data: JsonObject, fault?: string): Promise<void>
  /** The tally of a stream since this was called last. It changes until it is settled. */
  takeTally(stream: WrittenStream): Tally
  /**
   * Calls `pass` when every record that was added before has its final outcome; never in a dry run, nor when one of
   * these streams has a record among them that has to come again. Where one was refused that the run tolerates, it is
   * called at the end.
   */
  hold(streams: readonly WrittenStream[], pass: () => void): void
  /** Whether a state waits. */
  readonly isHolding: boolean
  /** Waits for the outcomes of all records, and passes the states on that are settled by then. */
  settle(): Promise<void>
  /** Passes the states on that are settled already: when the rest cannot be written, these need not come again. */
  passSettled(): void
  /** Passes the states on that cover records which a run that succeeds may refuse. */
  passTolerated(): void
}

/** A state that waits for the outcomes of the records before it. */
interface HeldState {
  readonly streams: readonly WrittenStream[]
  /** How many records were added before it. */
  readonly behind: number
  readonly pass: () => void
}

/** What a run is made of. */
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
  /** The first record of each stream that has to come again. */
  const pending = new Map<WrittenStream, number>()
  /** The first record of each stream that may be refused if the run succeeds, and the states that cover one. */
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
    const life = fault === undefined ? lifeOf(data) : { fault }
    const record = {
      ordinal: ordinal++,
      object: stream.object,
      data,
      ...('fault' in life ? { isDelete: false, fault: life.fault } : { isDelete: life.isDeleted }),
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
    tools.log.warn(`${stream.name}: record ${ordinal + 1} was rejected: ${rejection}`)
  }

  function tallyOf(stream: WrittenStream): Tally {
    const known = tallies.get(stream)
    if (known !== undefined) return known
    const tally = { records: 0, rejected: 0 }
    tallies.set(stream, tally)
    return tally
  }
}

/** How a protocol reads its input. */
export interface InputReader {
  /** Takes one message; may wait. */
  handle(message: InputMessage): Promise<void> | undefined
  /** Asked at the end: the objects of which all records came in this run. */
  completeObjects(): readonly string[]
}

/**
 * Reads an input to its end, completes what can be, and closes the session; answers with what the session
 * says then. The states of what has been read together are passed on together, before anything more is
 * waited for. Of an input with a damaged line everything before the line is passed on.
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
