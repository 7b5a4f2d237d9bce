import type { Config } from './config.ts'
import { ConnectorError } from './errors.ts'
import type { RetryPolicy } from './http/retry-policy.ts'
import { packageVersion, readProjectJson } from './project-files.ts'
import type { AirbyteSource } from './protocol/airbyte/source.ts'
import type { Log } from './protocol/log.ts'
import type { Failure } from './protocol/outcome.ts'
import type { Job } from './sync/plan.ts'

/**
 * The connector as the Airbyte protocol sees it: composes configuration, catalogue and sync. Each
 * command loads only what it needs, so that `spec` answers at once. `patience` is for tests.
 */
export function createAirbyteSource(patience?: RetryPolicy): AirbyteSource {
  const waits = patience === undefined ? {} : { patience }
  return {
    name: 'source-protime',
    version: packageVersion(),
    spec: () => readProjectJson('#spec') as object,

    async secrets(input) {
      const { secretsOf } = await import('./config.ts')
      return secretsOf(input)
    },

    async check(input, tools) {
      const config = await parsed(input, tools.log)
      const { availableStreams } = await import('./streams/available-streams.ts')
      const { checkService } = await import('./sync/check.ts')
      return checkService([...availableStreams(config).values()], { config, ...tools, ...waits })
    },

    async discover(input, tools) {
      const config = await parsed(input, tools.log)
      const { availableStreams } = await import('./streams/available-streams.ts')
      const { streamSpec } = await import('./streams/stream-spec.ts')
      const { airbyteStream } = await import('./protocol/airbyte/catalog.ts')
      return [...availableStreams(config).values()].map((stream) =>
        airbyteStream(streamSpec(stream)),
      )
    },

    async read(input, catalog, states, tools) {
      const config = await parsed(input, tools.log)
      const { unknownStream, availableStreams } = await import('./streams/available-streams.ts')
      const { versionOf } = await import('./streams/stream-spec.ts')
      const { runSync } = await import('./sync/run.ts')
      const { createAirbyteOutput } = await import('./protocol/airbyte/stream-output.ts')
      const { createAirbyteStates } = await import('./protocol/airbyte/states.ts')
      const allStates = createAirbyteStates()
      const offered = availableStreams(config)
      const jobs: Job[] = []
      const refused: Failure[] = []
      const output = (stream: string, version: string | undefined, now: () => Date) =>
        createAirbyteOutput({ stream, version, now, states: allStates, ...tools })
      // A stream that cannot be read as the catalog has it; the others are read.
      const refuse = (stream: string, error: ConnectorError) => {
        const { started, incomplete } = output(stream, undefined, () => new Date())
        started()
        incomplete()
        refused.push({ stream, error })
      }
      for (const { name, syncMode } of catalog) {
        const stream = offered.get(name)
        if (stream === undefined) refuse(name, unknownStream())
        else if (!isMode(syncMode)) refuse(name, unknownMode(syncMode))
        else jobs.push({ stream, mode: syncMode, state: states.get(name) })
      }
      if (jobs.length === 0) return refused
      const outputOf = ({ stream }: Job, now: () => Date) =>
        output(stream.stream, versionOf(stream), now)
      return runSync(jobs, { config, outputOf, refused, ...tools, ...waits })
    },
  }
}

/** The configuration; what it says without effect is warned of, also when it is not valid. */
async function parsed(input: unknown, log: Log): Promise<Config> {
  const { parseConfig } = await import('./config.ts')
  const { configWarnings } = await import('./config-warnings.ts')
  for (const warning of configWarnings(input)) log.warn(warning)
  return parseConfig(input)
}

function isMode(mode: string): mode is Job['mode'] {
  return mode === 'full_refresh' || mode === 'incremental'
}

function unknownMode(mode: string): ConnectorError {
  return new ConnectorError(
    'config',
    `The sync mode ${mode} is not known; choose full_refresh or incremental.`,
  )
}
