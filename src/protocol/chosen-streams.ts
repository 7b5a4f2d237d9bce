import { ConnectorError, unknownStream } from '../ground/errors.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import type { Source } from './connector.ts'

/**
 * The streams of a source with these names, each once; all without names. Throws a config error for a name that is not offered,
 * and for an empty list, which would let nothing count as everything.
 */
export function chosenStreams<Config>(
  source: Pick<Source<Config>, 'streams' | 'unknownStreamHint'>,
  config: Config,
  names: readonly string[] | undefined,
): readonly StreamSpec[] {
  const offered = source.streams(config)
  if (names === undefined) return offered
  if (names.length === 0)
    throw new ConnectorError(
      'config',
      'no-stream-named',
      'The list of streams to read is empty. Name streams, or leave the setting out to read all.',
    )
  return [...new Set(names)].map((name) => {
    const spec = offered.find((one) => one.name === name)
    if (spec !== undefined) return spec
    const { failure, id, message } = unknownStream(
      name,
      offered.map((one) => one.name),
      source.unknownStreamHint?.(name),
    )
    throw new ConnectorError(failure, id, `${name}: ${message}`)
  })
}
