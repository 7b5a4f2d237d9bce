import { ConnectorError } from '../../ground/errors.ts'
import { parseConfig } from '../config.ts'

export type Json = Readonly<Record<string, unknown>>

export const SECRET = 'never-show-this'

/** The least that a configuration must say. */
export const LEAST = {
  tenant: 'acme',
  environment: { type: 'production' },
  client_id: 'my-id',
  client_secret: SECRET,
}

/** A configuration of the environment `custom`. */
export function custom(environment: Json): Json {
  return { ...LEAST, environment: { type: 'custom', ...environment } }
}

/** The sentences about what is wrong; throws when nothing is. */
export function faultsOf(input: unknown): string {
  try {
    parseConfig(input)
  } catch (error) {
    if (error instanceof ConnectorError && error.failure === 'config') {
      return error.message.replace(/^The configuration is not valid\. /, '')
    }
    throw error
  }
  throw new Error('it is valid')
}
