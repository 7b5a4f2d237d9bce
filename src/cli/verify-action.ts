import { createReadStream, existsSync } from 'node:fs'
import { asConnectorError, ConnectorError, exitCodeOf } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { keepHeapSmall } from '../ground/v8.ts'
import { readMessagesOption } from '../protocol/command-line.ts'
import type { Failure } from '../protocol/connector.ts'
import { observed } from '../protocol/progress/observed.ts'
import { createSource, offeredStreams } from '../source/source.ts'
import { type Difference, type Earlier, earlierOf, type Found } from '../verify/compare-stream.ts'
import type { RowKey } from '../verify/digests.ts'
import { landingQueries, type QueryDialect } from '../verify/landing-queries.ts'
import { readPrintedRows } from '../verify/printed-rows.ts'
import type { Held, VerifiedStream } from '../verify/row-table.ts'
import { type Verified, verify, verifyBetweenSyncs } from '../verify/verify.ts'
import { readWarehouse } from '../verify/warehouse-rows.ts'
import { syncWarehouse } from '../warehouse/sync-warehouse.ts'
import {
  type ActionTools,
  type CommandAction,
  EXIT,
  type ExitCode,
  type Refuse,
} from './command.ts'
import { chosenSpecs, progressOf, tellFailures } from './sync-action.ts'
import { openedBy, type WarehouseChoice } from './warehouse-option.ts'

/** The options of `protime verify`. */
export interface VerifyOptions extends WarehouseChoice {
  /** A file of JSON lines, `-` for stdin. */
  readonly rows?: string
  /** Names, separated by commas. */
  readonly streams?: string
  readonly again?: string
  readonly sync?: boolean
  readonly sql?: QueryDialect
  readonly limit?: number
}

/**
 * Compares a warehouse with the service. The last line of stdout is the summary; the lines before it are the
 * differences, without a value of any row.
 */
export function verifyAction(options: VerifyOptions): CommandAction {
  return async (tools) => {
    keepHeapSmall()
    const streams = await chosenStreams(options, tools)
    if (options.sql !== undefined) {
      await tools.print(
        landingQueries(
          streams.map(({ name }) => name),
          options.sql,
        ),
      )
      return EXIT.done
    }
    try {
      if (options.sync) return await betweenSyncs(options, streams, tools)
      return await once(options, streams, tools)
    } catch (error) {
      tools.signal.throwIfAborted()
      return report({ ...NOTHING, failures: [{ error: asConnectorError(error) }] }, tools)
    }
  }
}

/** An unusable configuration is a result, too. */
export const refuseVerify: Refuse = (error, tools) =>
  report({ ...NOTHING, failures: [{ error }] }, tools)

interface Outcome extends Verified {
  readonly differences: number
  readonly pending: number
  /** Differences that no later sync will repair. */
  readonly isDifferent: boolean
}

const NOTHING: Outcome = {
  records: 0,
  differences: 0,
  pending: 0,
  withheld: 0,
  isDifferent: false,
  notVerified: new Map(),
  failures: [],
  requests: 0,
  bytes: 0,
}

/** One comparison with the present rows. */
async function once(
  options: VerifyOptions,
  streams: readonly VerifiedStream[],
  tools: ActionTools,
): Promise<ExitCode> {
  const earlier = await earlierLook(options.again)
  const wanted = earlier ? streams.filter(({ name }) => earlier.streams.has(name)) : streams
  if (earlier !== undefined && wanted.length === 0) return report(NOTHING, tools)
  const held = await heldBy(options, wanted, tools)
  const counts = { differences: 0, pending: 0 }
  const verified = await list(wanted, held, tools, (difference) => {
    const told = earlier === undefined ? difference : seenAgain(difference, earlier)
    if (told === undefined) return undefined
    counts.differences++
    if (told.pending) counts.pending++
    return counts.differences <= (options.limit ?? counts.differences) ? tools.say(told) : undefined
  })
  const real = counts.differences - (earlier === undefined ? 0 : counts.pending)
  const isDifferent = real > 0 || verified.withheld > 0
  return report({ ...verified, ...counts, isDifferent }, tools)
}

/**
 * A difference that an earlier comparison found: if it has not changed since, no sync has repaired it.
 */
function seenAgain(difference: Difference, earlier: Earlier): Difference | undefined {
  const seen = earlier.find(difference)
  if (seen === undefined) return undefined
  const { pending: _, ...real }: Difference = difference
  return seen === 'same' ? real : { ...real, pending: true }
}

async function earlierLook(file: string | undefined): Promise<Earlier | undefined> {
  if (file === undefined) return undefined
  return earlierOf([await readMessagesOption('--again', file)].flat())
}

/** Compares between two syncs of the file, so that changes in the meantime are no differences. */
async function betweenSyncs(
  options: VerifyOptions,
  streams: readonly VerifiedStream[],
  tools: ActionTools,
): Promise<ExitCode> {
  const { differences, explained, ...verified } = await verifyBetweenSyncs({
    streams,
    sync: () => sync(options, streams, tools),
    read: (some, isWanted) => readFile(options, some, tools, isWanted),
    compare: (some, held, found) => list(some, held, tools, found),
  })
  for (const difference of differences.slice(0, options.limit)) await tools.say(difference)
  const count = differences.length
  return report(
    {
      ...verified,
      differences: count,
      pending: explained,
      isDifferent: count > 0 || verified.withheld > 0,
    },
    tools,
  )
}

async function sync(
  options: VerifyOptions,
  streams: readonly VerifiedStream[],
  tools: ActionTools,
): Promise<readonly Failure[]> {
  const { config, signal, log, mask } = tools
  const { path, owner } = openedBy(tools, options)
  const { failures, stopped } = await syncWarehouse({
    source: createSource(),
    ...{ config, path, owner },
    streams: streams.map(({ name }) => name),
    exitCodeOf: ({ failures }) => exitCodeOf(failures),
    tools: { log, mask, signal },
  })
  if (stopped !== undefined) throw stopped
  return failures
}

function heldBy(
  options: VerifyOptions,
  streams: readonly VerifiedStream[],
  tools: ActionTools,
): Promise<Held> {
  const { rows } = options
  if (rows === undefined) return readFile(options, streams, tools)
  return readPrintedRows(rows === '-' ? process.stdin : inputOf(rows), streams, tools.signal)
}

function inputOf(path: string) {
  if (existsSync(path)) return createReadStream(path)
  throw new ConnectorError(
    'config',
    'file-not-readable',
    `There is no such file for --rows: ${path}`,
  )
}

function readFile(
  options: VerifyOptions,
  streams: readonly VerifiedStream[],
  tools: ActionTools,
  isWanted?: (stream: string, key: RowKey) => boolean,
): Promise<Held> {
  return readWarehouse({
    ...openedBy(tools, options),
    streams,
    ...(isWanted === undefined ? {} : { isWanted }),
  })
}

/** Lists the service and compares; shows progress like a sync. */
async function list(
  streams: readonly VerifiedStream[],
  held: Held,
  tools: ActionTools,
  found: Found,
): Promise<Verified> {
  const { config, mask, signal } = tools
  const shown = { ...progressOf(tools), metrics: undefined, kept: 'Nothing was changed.' }
  const done: { verified?: Verified } = {}
  await observed(shown, async (observer) => {
    const watched = { log: shown.log, mask, signal, observer }
    const settings = { source: createSource(), config, streams, held, found, tools: watched }
    done.verified = await verify(settings)
    return done.verified.failures
  })
  return done.verified as Verified
}

/**
 * The streams of the command line or the configuration, or all, with their data for a comparison.
 */
async function chosenStreams(
  options: VerifyOptions,
  tools: ActionTools,
): Promise<VerifiedStream[]> {
  const offered = offeredStreams(tools.config)
  // The inventory is not a stream of the service.
  return (await chosenSpecs(options, tools)).flatMap((spec) => {
    const stream = offered.get(spec.name)
    return stream === undefined ? [] : [{ ...spec, dateField: stream.dateField }]
  })
}

function report(
  { isDifferent, notVerified, failures, requests, bytes, ...counts }: Outcome,
  { say, log, mask }: Pick<ActionTools, 'say' | 'log' | 'mask'>,
): ExitCode {
  for (const [stream, why] of notVerified)
    log.warn(
      warningOf(
        'stream-not-verified',
        `${stream} was not verified: ${why.replace(/\.$/, '')}. To leave it out, name the other streams with --streams.`,
      ),
    )
  const { records, differences, pending, withheld } = counts
  if (withheld > 0)
    log.warn(
      warningOf(
        'rows-withheld',
        `The service does not list ${withheld} rows, which syncs keep because they are too many to be deleted.`,
      ),
    )
  const told = tellFailures(failures, { log, mask })
  void say({
    ...{ records, differences, pending, withheld, requests, bytes },
    notVerified: [...notVerified.keys()],
    failures: told,
  })
  if (isDifferent) return EXIT.differs
  // A stream that was not compared does not count as equal.
  if (failures.length === 0 && notVerified.size > 0) return EXIT.failed
  return exitCodeOf(failures)
}
