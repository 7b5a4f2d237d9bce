import type { Stream } from '../../src/catalogue/collection.ts'
import { keyOf } from '../warehouse.ts'
import type { Sync } from './step.ts'
import { type Court, isJudged, truthOf, verdict } from './verdict.ts'

type Row = Readonly<Record<string, unknown>>

/** Has seen service and warehouses before a sync, and judges what the sync made of them. */
export interface Witness {
  /** What is wrong in streams that the sync says it has completed, in words. */
  faults(completed: readonly string[]): string[]
}

interface Before {
  /** Rows that both warehouses held in the version of the service. */
  readonly held: ReadonlyMap<string, Row>
  /** Of all that is stored. */
  readonly versions: string
  readonly listedAt: string | null | undefined
}

/** Answers to a list or delta by which the connector may believe that it is not offered. */
const REFUSALS: ReadonlySet<unknown> = new Set([400, 404, 409])

/**
 * A completed stream that nobody touched meanwhile equals the service, unless a part of it was
 * refused; and whatever nobody touched and the warehouse had is still there.
 */
export function createWitness(court: Court, { during, faults: disturbances }: Sync): Witness {
  const { platform, streams, emulator } = court
  const isRefused = disturbances.some(({ kind }) => REFUSALS.has(kind))
  const before = new Map<string, Before>(
    streams.map((stream) => [
      stream.stream,
      {
        held: right(stream, court),
        versions: versions(stream),
        listedAt: platform.stateOf(stream.stream)?.history_at,
      },
    ]),
  )
  return {
    faults: (completed) =>
      streams.filter(({ stream }) => completed.includes(stream)).flatMap(faultsOf),
  }

  function faultsOf(stream: Stream): string[] {
    const { held, versions: then, listedAt } = before.get(stream.stream) as Before
    const isReference = stream.nested === 'referenced_collections'
    if (isReference && during.length > 0) return []
    if (versions(stream) !== then || isRefused) return lost(stream, held)
    const historyAt = platform.stateOf(stream.stream)?.history_at ?? null
    const isHistoryFresh = historyAt !== null && historyAt !== listedAt
    return [
      ...lost(stream, held),
      ...verdict({ ...court, streams: [stream], isHistoryFresh }).map(
        (text) => `after a complete sync, ${text}`,
      ),
    ]
  }

  /** Rows that the warehouses had as they are, and have no more. */
  function lost(stream: Stream, held: ReadonlyMap<string, Row>): string[] {
    const now = right(stream, court)
    const living = new Map(truthOf(stream, court).map((row) => [keyOf(row), row]))
    return [...held]
      .filter(([key, row]) => {
        const alive = living.get(key)
        return alive && isSame(alive, row) && !now.has(key)
      })
      .filter(([, row]) => isJudged(row, stream, { ...court, isHistoryFresh: true }))
      .map(([key]) => `${stream.stream} ${key} lives, was in the warehouse, and is not there now`)
  }

  function versions(stream: Stream): string {
    if (stream.nested === 'referenced_collections') return JSON.stringify(truthOf(stream, court))
    return emulator
      .stored(stream.collection)
      .map(({ id, changeVersion }) => `${id} ${changeVersion}`)
      .join()
  }
}

/** The rows that both warehouses hold in the version of the service. */
function right(stream: Stream, court: Court): Map<string, Row> {
  const tables = court.platform.warehouses.map((warehouse) => warehouse.rows(stream.stream))
  return new Map(
    truthOf(stream, court)
      .map((row) => [keyOf(row), row] as const)
      .filter(([key, row]) => tables.every((rows) => isSame(row, rows.get(key)))),
  )
}

function isSame(row: Row, other: Row | undefined): boolean {
  return other !== undefined && other['changeVersion'] === row['changeVersion']
}
