import type { DestinationSyncMode, ObjectSpec } from '../../destination.ts'
import { ConnectorError } from '../../errors.ts'

/** What `discover` offers of an object: one operation per way in which it can be written. */
export function operationsOf({ name, schema, matchingKeys, modes }: ObjectSpec): object[] {
  return modes.map((mode) => ({
    object_name: name,
    sync_mode: mode,
    json_schema: schema,
    matching_keys: matchingKeys,
  }))
}

/** A stream of a configured catalog, and the object that it is written to. */
export interface ConfiguredStream {
  readonly name: string
  readonly namespace: string | undefined
  readonly object: string
  /** Whether each sync sends all records; else only those that changed. */
  readonly isFullRefresh: boolean
  /** Why it cannot be written. */
  readonly refusal?: ConnectorError
}

/**
 * The streams of a configured catalog. One that cannot be written as the catalog has it says why; the
 * others can be. Throws a config error for what is no configured catalog.
 */
export function parseDestinationCatalog(
  input: unknown,
  objects: readonly ObjectSpec[],
): readonly ConfiguredStream[] {
  const streams = (input as { streams?: unknown } | null)?.streams
  if (!Array.isArray(streams)) throw notACatalog('it has no list of streams')
  const configured = streams.map((entry) => parseStream(entry, objects))
  const names = configured.map(streamKey)
  const twice = configured.find((stream, i) => names.indexOf(streamKey(stream)) < i)
  if (twice !== undefined) throw notACatalog(`it names ${twice.name} twice`)
  return configured
}

/** Tells streams apart: the same name may be in several namespaces. */
export function streamKey({ name, namespace }: { name?: unknown; namespace?: unknown }): string {
  return JSON.stringify([namespace ?? null, name])
}

function parseStream(entry: unknown, objects: readonly ObjectSpec[]): ConfiguredStream {
  const facts = (entry ?? {}) as Record<string, unknown>
  const { name, namespace } = (facts['stream'] ?? {}) as Record<string, unknown>
  if (typeof name !== 'string') throw notACatalog('one of its streams has no name')
  const chosen = facts['destination_object_name']
  const object = typeof chosen === 'string' && chosen !== '' ? chosen : name
  const stream = {
    name,
    namespace: typeof namespace === 'string' ? namespace : undefined,
    object,
    isFullRefresh: facts['sync_mode'] === 'full_refresh',
  }
  const reason = refusalOf(facts, objects, object)
  return reason === undefined
    ? stream
    : { ...stream, refusal: new ConnectorError('config', reason) }
}

/** Why a stream cannot be written, in a sentence. */
function refusalOf(
  { destination_sync_mode, destination_object_name, primary_key }: Record<string, unknown>,
  objects: readonly ObjectSpec[],
  object: string,
): string | undefined {
  const spec = objects.find(({ name }) => name === object)
  if (spec === undefined) {
    const names = objects.map(({ name }) => name).join(', ')
    return `There is no object ${object} to write to. Choose one of ${names} as the destination object, or leave the stream out.`
  }
  const mode = destination_sync_mode ?? 'append'
  if (!spec.modes.includes(mode as DestinationSyncMode))
    return `The destination sync mode ${String(mode)} cannot be used here. Choose one of ${spec.modes.join(', ')}.`
  // Elsewhere the key is the source's, which says nothing of the object.
  if (!destination_object_name || !Array.isArray(primary_key)) return undefined
  const offered = spec.matchingKeys.map((path) => JSON.stringify(path))
  const strange = primary_key.find((path) => !offered.includes(JSON.stringify(path)))
  if (strange === undefined) return undefined
  const paths = spec.matchingKeys.map((path) => path.join('.')).join(', ')
  return `A record cannot be matched by ${[strange].flat().join('.')}. Choose among ${paths}.`
}

function notACatalog(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    `The file given by --catalog is not a configured catalog: ${reason}.`,
  )
}
