import { parseConfiguredCatalog } from '../protocol/airbyte/catalog.ts'
import { readMessagesOption } from '../protocol/command-line.ts'
import { parseCatalog } from '../protocol/singer/catalog.ts'

/**
 * The names of the streams that a catalog chooses: a configured catalog of Airbyte, or a catalog of
 * Singer. Throws a config error when the file cannot be read or is neither.
 */
export async function readChosenStreams(file: string): Promise<ReadonlySet<string>> {
  const input = await readMessagesOption('--catalog', file)
  const { streams } = isSinger(input)
    ? { streams: parseCatalog(input) }
    : parseConfiguredCatalog(input)
  return new Set(streams.map(({ name }) => name))
}

/** There a stream has its name beside its schema; Airbyte has an object for it. */
function isSinger(input: unknown): boolean {
  const streams: unknown = (input as { streams?: unknown } | null)?.streams
  if (!Array.isArray(streams)) return false
  return streams.some((entry: { tap_stream_id?: unknown; stream?: unknown } | null) =>
    [entry?.tap_stream_id, entry?.stream].some((name) => typeof name === 'string'),
  )
}
