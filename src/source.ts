import { type Config, parseConfig } from './config.ts'
import { configWarnings } from './config-warnings.ts'
import type { RetryPolicy } from './http/retry-policy.ts'
import type { ReadJob, Source } from './protocol/connector.ts'
import { availableStreams, streamSpec } from './streams/streams.ts'
import type { RunSettings } from './sync/run.ts'

/**
 * Configuration, streams and sync put together; for `retryPolicy` see `createConnector`. What talks to
 * the service is loaded by the commands that do.
 */
export function createSource(retryPolicy?: RetryPolicy): Source<Config> {
  const waits = retryPolicy === undefined ? {} : { retryPolicy }
  return {
    unknownStreamHint: 'For activity_definitions, name activity structures in the configuration.',

    configure(input, log) {
      // Also of a configuration that is not valid: a warning may tell why.
      for (const warning of configWarnings(input)) log.warn(warning)
      return parseConfig(input)
    },

    streams(config) {
      const offered = availableStreams(config ?? { activityStructures: [] })
      return [...offered.values()].map(streamSpec)
    },

    async check(config, tools) {
      const { checkService } = await import('./sync/check.ts')
      return checkService([...availableStreams(config).values()], { config, ...tools, ...waits })
    },

    async read(config, readJobs, tools) {
      const { runSync } = await import('./sync/run.ts')
      const available = availableStreams(config)
      const jobs = readJobs.flatMap(({ name, mode, state }) => {
        const stream = available.get(name)
        return stream === undefined ? [] : [{ stream, mode, state }]
      })
      const outputs = new Map(readJobs.map(({ name, output }) => [name, output]))
      const outputOf: RunSettings['outputOf'] = ({ stream }, now) =>
        (outputs.get(stream.stream) as ReadJob['output'])(now)
      const failures = await runSync(jobs, { config, outputOf, ...tools, ...waits })
      return failures.filter((failure) => !tools.refused.includes(failure))
    },

    activatesVersions: ({ emitsActivateVersions }) => emitsActivateVersions,
  }
}
