import { ConnectorError } from '../errors.ts'

/** The JSON of a state file, null for an empty one; throws a config error when it is not JSON. */
export function parseStateJson(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return refuseState('it is not JSON')
  }
}

/** Throws the config error for a state file that cannot be used; `reason` is half a sentence. */
export function refuseState(reason: string): never {
  throw new ConnectorError(
    'config',
    `The file given by --state is damaged: ${reason}. Restore it, or leave it out to read everything again.`,
  )
}
