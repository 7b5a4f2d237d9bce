import type { Day } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { tryParseExactly } from '../ground/json.ts'
import type { Source, Tools } from '../protocol/connector.ts'
import { readStreams } from '../protocol/read-run.ts'
import type { StreamWriter } from '../protocol/stream-writer.ts'
import { UPSERT } from '../records/record-batch.ts'
import { type OwnedIds, PEOPLE, personIdsIn, personPathsOf } from '../streams/person-paths.ts'

/** How the service is asked about a person. */
export interface Asking<Config> {
  readonly source: Source<Config>
  readonly config: Config
  /** The streams that a sync reads. */
  readonly streams: ReadonlySet<string>
  readonly tools: Tools
}

/**
 * Those of some streams that have rows of the person in a listing of the service, as a sync would read it: it reads the chosen
 * ones, at least until the given days, and the people are asked for anyway. Throws if one of them cannot be listed.
 */
export async function listingsOf<Config>(
  owned: OwnedIds,
  asked: ReadonlyMap<string, Day | null>,
  { source, config, streams, tools }: Asking<Config>,
): Promise<string[]> {
  const found = new Set<string>()
  const readings = source
    .streams(config)
    .filter(({ name }) => asked.has(name) && (name === PEOPLE || streams.has(name)))
    .map((spec) => ({
      spec,
      mode: 'full_refresh' as const,
      state: undefined,
      byLists: { from: null, until: asked.get(spec.name) ?? null },
      writer: lookFor(owned, spec.name, () => found.add(spec.name)),
    }))
  const failures = await readStreams(source, config, readings, { ...tools, refused: [] })
  for (const { error } of failures)
    throw new ConnectorError(error.failure, error.id, `Nothing was erased. ${error.message}`)
  return [...found]
}

/** A writer that only looks for the records of a person. */
function lookFor(owned: OwnedIds, stream: string, onFound: () => void): StreamWriter {
  const paths = personPathsOf(stream)
  const ignore = () => undefined
  return {
    ...{ started: ignore, deletes: ignore, checkpoint: ignore, note: ignore, ended: ignore },
    flush: async () => {},
    records(batch) {
      for (let i = 0; i < batch.count; i++) {
        if (batch.ops[i] !== UPSERT) continue
        const record = tryParseExactly(Buffer.from(batch.received(i)).toString('utf8'))
        const isOwned = [...owned].some(([collection, ids]) =>
          personIdsIn(record, paths, collection).some((id) => ids.has(id)),
        )
        if (isOwned) onFound()
      }
      return undefined
    },
  }
}
