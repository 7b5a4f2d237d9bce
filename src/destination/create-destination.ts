import { parseConfig } from '../config/config.ts'
import { configWarnings } from '../config/config-warnings.ts'
import { parseWriteSettings, type WriteSettings } from '../config/write-settings.ts'
import { ConnectorError } from '../ground/errors.ts'
import { resourceUrl, scopeName } from '../http/endpoints.ts'
import { CHECK_RETRY_MS, type RetryPolicy, retryPolicyOf } from '../http/retry.ts'
import { createSession, type Session, type SessionSettings } from '../http/session.ts'
import { hasScope } from '../http/token.ts'
import type { CheckResult } from '../protocol/connector.ts'
import type { Destination, ObjectSpec } from '../protocol/destination.ts'
import { type ObjectName, objects } from '../write/objects.ts'
import { SYNC_MODES } from './destination-spec.ts'
import { type DestinationConfig, openWriteSession } from './write-session.ts'

/** What is read of each object to see that it is there. */
const LISTS: Readonly<Record<ObjectName, readonly string[]>> = {
  external_references: ['external-references', 'people'],
  job_categories: ['job-categories'],
  work_locations: ['work-locations'],
}

/**
 * Says which objects can be written, and why others cannot. Takes a token and reads the list of each object
 * that the token covers; writes nothing. Succeeds when any object can be written.
 */
async function checkWriting(settings: SessionSettings): Promise<CheckResult> {
  const { config, retryPolicy = retryPolicyOf(config.retryMinutes, CHECK_RETRY_MS) } = settings
  const session = createSession({ ...settings, retryPolicy }, undefined)
  try {
    const names = Object.keys(objects) as ObjectName[]
    const faults = await Promise.all(names.map((name) => faultOf(name, session)))
    const writable = names.filter((_name, i) => faults[i] === undefined)
    const others = names.flatMap((name, i) => (faults[i] ? `${name}: ${faults[i]}` : []))
    // What all objects have in common, such as a wrong secret, is said once.
    const reasons = new Set(faults).size === 1 ? faults.slice(0, 1) : others
    const opening =
      writable.length === 0 ? 'Nothing can be written.' : `${list(writable)} can be written.`
    return {
      isUsable: writable.length > 0,
      message: [opening, ...reasons].filter(Boolean).join(' '),
    }
  } finally {
    await session.close()
  }
}

/** Why an object cannot be written; undefined when it can. */
async function faultOf(
  name: ObjectName,
  { client, endpoints }: Session,
): Promise<string | undefined> {
  try {
    const token = await client.token()
    const missing = objects[name].scopes.filter((scope) => !hasScope(token, endpoints, [scope]))
    if (missing.length > 0)
      return `the client lacks ${list(missing.map((scope) => scopeName(endpoints, scope)))}. Ask the operator of the service for ${missing.length === 1 ? 'it' : 'them'}.`
    await client.probe(resourceUrl(LISTS[name], endpoints))
    return undefined
  } catch (error) {
    if (error instanceof ConnectorError) return error.message
    throw error
  }
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** Configuration, client and writer put together; for `retryPolicy` see `createDestinationConnector`. */
export function createDestination(retryPolicy?: RetryPolicy): Destination<DestinationConfig> {
  const waits = retryPolicy === undefined ? {} : { retryPolicy }
  return {
    configure(input, log) {
      // Also of a configuration that is not valid: a warning may tell why.
      for (const warning of configWarnings(input)) log.warn(warning)
      return { service: parseConfig(input), writing: parseWriteSettings(input) }
    },

    objects: ({ writing }) =>
      Object.keys(objects).map((name) => objectSpec(name as ObjectName, writing)),

    check: ({ service }, tools) => checkWriting({ config: service, ...tools, ...waits }),

    open: async (config, tools) => openWriteSession(config, { ...tools, ...waits }),
  }
}

function objectSpec(name: ObjectName, { mirror }: WriteSettings): ObjectSpec {
  const { properties, required, keys } = objects[name]
  return {
    name,
    schema: { type: 'object', additionalProperties: true, required, properties },
    matchingKeys: keys.flat().map((member) => [member]),
    // To overwrite is to delete what is not sent.
    modes: SYNC_MODES.filter((mode) => mode !== 'overwrite' || mirror),
  }
}
