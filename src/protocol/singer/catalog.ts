import { ConnectorError } from '../../ground/errors.ts'
import type { Breadcrumb } from '../../records/record-rules.ts'
import type { JsonSchema, StreamSpec } from '../../records/stream-spec.ts'
import { CDC_CURSOR, singerColumns } from '../sync-columns.ts'

interface MetadataEntry {
  readonly breadcrumb: Breadcrumb
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The schema of a stream's records as the tap writes them, with the added columns. */
export function recordSchema(spec: StreamSpec): JsonSchema {
  const { schema } = spec
  const { examples: _examples, $schema: _$schema, ...rest } = schema
  return { ...rest, properties: { ...schema.properties, ...singerColumns(spec) } }
}

/**
 * The columns by which a target can order the changes of a stream; none for a stream that is always read completely.
 */
export function cursorOf(spec: StreamSpec): readonly string[] {
  return spec.isIncremental && replicationOf(spec) !== 'FULL_TABLE' ? [CDC_CURSOR] : []
}

function replicationOf({ isIncremental, replication }: StreamSpec): string {
  return replication ?? (isIncremental ? 'INCREMENTAL' : 'FULL_TABLE')
}

/** A stream as `--discover` prints it. Every property has its metadata, nested ones included. */
export function singerStream(facts: StreamSpec): object {
  const { name, key } = facts
  const replication = replicationOf(facts)
  const schema = recordSchema(facts)
  const cursor = cursorOf(facts)
  return {
    tap_stream_id: name,
    stream: name,
    schema,
    key_properties: key,
    replication_method: replication,
    ...(cursor.length === 0 ? {} : { replication_key: CDC_CURSOR }),
    metadata: [
      {
        breadcrumb: [],
        metadata: {
          inclusion: 'available',
          'selected-by-default': true,
          'table-key-properties': key,
          'valid-replication-keys': cursor,
          'forced-replication-method': replication,
        },
      },
      ...fieldsOf(schema, []).map((breadcrumb) => fieldMetadata(breadcrumb, facts)),
      ...(facts.leftOut ?? []).map(leftOutMetadata),
    ],
  }
}

function fieldsOf({ properties = {}, items }: JsonSchema, at: Breadcrumb): Breadcrumb[] {
  const nested = items === undefined ? [] : fieldsOf(items, [...at, 'items'])
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const breadcrumb = [...at, 'properties', name]
    return [breadcrumb, ...fieldsOf(schema, breadcrumb)]
  })
  return [...fields, ...nested]
}

function fieldMetadata(breadcrumb: Breadcrumb, facts: StreamSpec): MetadataEntry {
  const [, name = '', ...deeper] = breadcrumb
  const always = [...facts.key, facts.version, ...Object.keys(singerColumns(facts))]
  // An array is selected as a whole, as in the Meltano SDK: Meltano's patterns cannot select its members.
  const isAutomatic = deeper.length === 0 ? always.includes(name) : deeper.includes('items')
  return {
    breadcrumb,
    metadata: isAutomatic
      ? { inclusion: 'automatic' }
      : { inclusion: 'available', 'selected-by-default': true },
  }
}

/** The metadata of a field that the source leaves out and that cannot be selected. */
function leftOutMetadata(path: string): MetadataEntry {
  const breadcrumb = path.split('.').flatMap((name) => ['properties', name])
  return { breadcrumb, metadata: { inclusion: 'unsupported', 'selected-by-default': false } }
}

/** A stream that a catalog selects, and its selected fields. */
export interface SelectedStream {
  readonly name: string
  /** Whether a field is selected. */
  isSelected(breadcrumb: Breadcrumb): boolean
}

/** The selected streams of a catalog; throws a config error if the input is not a catalog. */
export function parseCatalog(input: unknown): SelectedStream[] {
  const streams = (input as { streams?: unknown } | null)?.streams
  if (!Array.isArray(streams)) throw notACatalog('it has no list of streams')
  const selected = streams.map(toSelected).filter(({ isSelected }) => isSelected([]))
  const names = selected.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw notACatalog(`it selects ${twice} twice`)
  return selected
}

function notACatalog(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    'catalog-not-valid',
    `The file given by --catalog is not a catalog: ${reason}. Discover the streams again.`,
  )
}

function toSelected(entry: unknown): SelectedStream {
  const { tap_stream_id, stream, metadata } = (entry ?? {}) as Record<string, unknown>
  const name = tap_stream_id ?? stream
  if (typeof name !== 'string') throw notACatalog('one of its streams has no name')
  const marks = new Map(
    (Array.isArray(metadata) ? (metadata as (Partial<MetadataEntry> | null)[]) : []).map((mark) => [
      JSON.stringify(mark?.breadcrumb),
      mark?.metadata,
    ]),
  )
  const isSelected = (breadcrumb: Breadcrumb): boolean => {
    const parent = breadcrumb.length === 0 ? true : isSelected(parentOf(breadcrumb))
    return parent && isMarked(marks.get(JSON.stringify(breadcrumb)))
  }
  return { name, isSelected }
}

/** The field around a field; for a member of an array's items, it is the array. */
function parentOf(breadcrumb: Breadcrumb): Breadcrumb {
  const around = breadcrumb.slice(0, -2)
  return around.at(-1) === 'items' ? around.slice(0, -1) : around
}

/**
 * Decides as the Meltano SDK does, in this order: unsupported, automatic, selected, selected by default, otherwise
 * yes.
 */
function isMarked(metadata: Readonly<Record<string, unknown>> | undefined): boolean {
  const { inclusion, selected, 'selected-by-default': byDefault } = metadata ?? {}
  if (inclusion === 'unsupported') return false
  if (inclusion === 'automatic') return true
  const choice = selected ?? byDefault ?? true
  return choice === true || choice === 'true'
}
