import { ConnectorError } from './errors.ts'

/** The failure of a stream that a catalog names and that the source does not have. */
export function unknownStream(hint?: string): ConnectorError {
  const reason = 'There is no stream of this name. Discover the streams again.'
  return new ConnectorError('config', hint === undefined ? reason : `${reason} ${hint}`)
}
