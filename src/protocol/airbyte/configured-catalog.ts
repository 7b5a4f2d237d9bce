import { ConnectorError } from '../../ground/errors.ts'
import type { ObjectRules } from '../../records/record-batch.ts'
import { selectionRules } from '../../records/record-rules.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import { airbyteColumns, CDC_CURSOR } from '../sync-columns.ts'

/** A stream as `discover` prints it. */
export function airbyteStream(spec: StreamSpec): object {
  const { name, schema, key, isIncremental = false } = spec
  const { examples: _examples, properties, ...rest } = schema
  return {
    name,
    json_schema: { ...rest, properties: { ...properties, ...airbyteColumns(spec) } },
    supported_sync_modes: ['full_refresh', ...(isIncremental ? ['incremental'] : [])],
    ...(isIncremental ? { source_defined_cursor: true, default_cursor_field: [CDC_CURSOR] } : {}),
    source_defined_primary_key: key.map((column) => [column]),
    is_resumable: isIncremental,
  }
}

/** A stream that the user has selected. */
export interface ConfiguredStream {
  readonly name: string
  readonly syncMode: string
  /** The columns in the catalog; undefined if the catalog has no schema. */
  readonly fields?: ReadonlySet<string> | undefined
  /**
   * See `StreamRequest.refresh`. Missing if the platform has no generations, or if the destination keeps earlier
   * ones.
   */
  readonly refresh?: number
}

/** The streams to read. */
export interface ConfiguredCatalog {
  readonly streams: readonly ConfiguredStream[]
  /** Whether the input was the output of `discover` instead of a configured catalog: then all streams are read. */
  readonly isDiscovered: boolean
}

/**
 * Parses a configured catalog. Also accepts the output of `discover`, as a list of messages or only the catalog: then
 * all streams are read incrementally. Throws a config error for anything else.
 */
export function parseConfiguredCatalog(input: unknown): ConfiguredCatalog {
  const streams = (catalogOf(input) as { streams?: unknown } | null)?.streams
  if (!Array.isArray(streams)) throw notACatalog('it has no list of streams')
  const isDiscovered = streams.length > 0 && streams.every(isOffered)
  const chosen = isDiscovered
    ? streams.map(({ name }) => ({ name, syncMode: 'incremental' }))
    : streams.map(configured)
  const twice = chosen.find(({ name }, i) => chosen.findIndex((other) => other.name === name) < i)
  if (twice !== undefined) throw notACatalog(`it names ${twice.name} twice`)
  return { streams: chosen, isDiscovered }
}

/** The catalog among the messages of `discover`; any other input is the catalog itself. */
function catalogOf(input: unknown): unknown {
  const messages: readonly unknown[] = Array.isArray(input) ? input : [input]
  const message = messages.find((one) => (one as { type?: unknown } | null)?.type === 'CATALOG')
  return message === undefined ? input : (message as { catalog?: unknown }).catalog
}

/** Whether an entry is a stream as `discover` prints it, not one of a configured catalog. */
function isOffered(entry: unknown): entry is { readonly name: string } {
  const { name, stream } = (entry ?? {}) as { name?: unknown; stream?: unknown }
  return typeof name === 'string' && stream === undefined
}

function configured(entry: unknown): ConfiguredStream {
  const { stream, sync_mode, generation_id, minimum_generation_id } = (entry ?? {}) as {
    stream?: { name?: unknown; json_schema?: { properties?: unknown } | null }
    sync_mode?: unknown
    generation_id?: unknown
    minimum_generation_id?: unknown
  }
  if (typeof stream?.name !== 'string') throw notACatalog('one of its streams has no name')
  if (typeof sync_mode !== 'string') throw notACatalog(`its stream ${stream.name} has no sync mode`)
  const columns = Object.keys(stream.json_schema?.properties ?? {})
  // Programs that create catalogs leave the schema empty.
  const fields = columns.length === 0 ? undefined : new Set(columns)
  const chosen = { name: stream.name, syncMode: sync_mode, fields }
  // If both are equal, the destination keeps only this generation, which may consist of several attempts. By the
  // protocol, a minimum of 0 keeps all generations.
  const isAlone =
    Number.isSafeInteger(generation_id) &&
    generation_id === minimum_generation_id &&
    generation_id !== 0
  return isAlone ? { ...chosen, refresh: generation_id as number } : chosen
}

/** The rules that apply the selection of columns to records; undefined if all columns are selected. */
export function chosenFields(
  { schema, key, version }: StreamSpec,
  { fields }: ConfiguredStream,
): ObjectRules | undefined {
  if (fields === undefined) return undefined
  const always = [...key, version]
  const isChosen = (name = '') => fields.has(name) || always.includes(name)
  return selectionRules(schema, (breadcrumb) => isChosen(breadcrumb[1]))
}

function notACatalog(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    'configured-catalog-not-valid',
    `The file given by --catalog is not a configured catalog: ${reason}. Give the output of discover to read every stream incrementally.`,
  )
}
