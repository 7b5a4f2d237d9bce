import { parseConfig } from '../config/config.ts'
import { configWarnings } from '../config/config-warnings.ts'
import { parseWriteSettings, type WriteSettings } from '../config/write-settings.ts'
import type { RetryPolicy } from '../http/retry-policy.ts'
import type { Destination, ObjectSpec } from '../protocol/destination.ts'
import { type ObjectName, objects } from '../write/objects.ts'
import { checkWriting } from './check-writing.ts'
import { SYNC_MODES } from './destination-spec.ts'
import { type DestinationConfig, openWriteSession } from './write-session.ts'

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
