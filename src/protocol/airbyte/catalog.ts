import { ConnectorError } from '../../errors.ts'
import { columnSchemas, GENERATION } from './columns.ts'

/** What a stream is, as far as a catalog tells. */
export interface StreamFacts {
  readonly name: string
  readonly schema: { readonly properties: Readonly<Record<string, unknown>> }
  readonly key: readonly string[]
  /** The member that orders versions, if the service sends one. */
  readonly version: string | undefined
}

/** The stream as `discover` offers it: every one can be read both ways and resumed (design D17). */
export function airbyteStream({ name, schema, key, version }: StreamFacts): object {
  const {
    examples: _examples,
    properties,
    ...rest
  } = schema as StreamFacts['schema'] & {
    examples?: unknown
  }
  return {
    name,
    json_schema: { ...rest, properties: { ...properties, ...columnSchemas } },
    supported_sync_modes: ['full_refresh', 'incremental'],
    source_defined_cursor: true,
    default_cursor_field: [version ?? GENERATION],
    source_defined_primary_key: key.map((column) => [column]),
    is_resumable: true,
  }
}

/** A stream that the user has chosen. */
export interface ConfiguredStream {
  readonly name: string
  readonly syncMode: string
}

/** The chosen streams of a configured catalog; throws a config error when it is not one. */
export function parseConfiguredCatalog(input: unknown): ConfiguredStream[] {
  const streams = (input as { streams?: unknown } | null)?.streams
  if (!Array.isArray(streams)) throw notACatalog('it has no list of streams')
  const chosen = streams.map((entry: unknown) => {
    const { stream, sync_mode } = (entry ?? {}) as {
      stream?: { name?: unknown }
      sync_mode?: unknown
    }
    if (typeof stream?.name !== 'string') throw notACatalog('one of its streams has no name')
    if (typeof sync_mode !== 'string')
      throw notACatalog(`its stream ${stream.name} has no sync mode`)
    return { name: stream.name, syncMode: sync_mode }
  })
  const twice = chosen.find(({ name }, i) => chosen.findIndex((other) => other.name === name) < i)
  if (twice !== undefined) throw notACatalog(`it names ${twice.name} twice`)
  return chosen
}

function notACatalog(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    `The file given by --catalog is not a configured catalog: ${reason}. Discover the streams again.`,
  )
}
