import type { Patience } from './api/retry.ts'
import type { Stream } from './catalogue/collection.ts'
import type { Config } from './config.ts'
import { ConnectorError } from './errors.ts'
import { packageVersion, readProjectJson } from './project-files.ts'
import type { ConfiguredStream } from './protocol/airbyte/catalog.ts'
import type { AirbyteSource, CommandTools } from './protocol/airbyte/cli.ts'
import { createAirbyteOutput } from './protocol/airbyte/stream-output.ts'
import type { Failure } from './protocol/outcome.ts'
import type { Job } from './sync/plan.ts'

/**
 * The connector as the Airbyte protocol sees it: composes configuration, catalogue and sync. Each
 * command loads only what it needs, so that `spec` answers at once. `patience` is for tests.
 */
export function createAirbyteSource(patience?: Patience): AirbyteSource {
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
      const config = await parsed(input)
      const { offeredStreams } = await import('./catalogue/offered-streams.ts')
      const { checkService } = await import('./sync/check.ts')
      return checkService(offeredStreams(config), { config, ...tools, ...waits })
    },

    async discover(input) {
      const config = await parsed(input)
      const { offeredStreams } = await import('./catalogue/offered-streams.ts')
      const { readStreamSchema } = await import('./catalogue/stream-schema.ts')
      const { keyOf } = await import('./catalogue/streams.ts')
      const { airbyteStream } = await import('./protocol/airbyte/catalog.ts')
      return offeredStreams(config).map((stream) =>
        airbyteStream({
          name: stream.stream,
          schema: readStreamSchema(stream.stream),
          key: keyOf(stream),
          version: versionOf(stream),
        }),
      )
    },

    async read(input, catalog, states, tools) {
      const config = await parsed(input)
      const { offeredStreams } = await import('./catalogue/offered-streams.ts')
      const { runSync } = await import('./sync/run.ts')
      const offered = new Map(offeredStreams(config).map((stream) => [stream.stream, stream]))
      const jobs: Job[] = []
      const failures: Failure[] = []
      for (const { name, syncMode } of catalog) {
        const stream = offered.get(name)
        if (stream !== undefined && isMode(syncMode)) {
          jobs.push({ stream, mode: syncMode, state: states.get(name) })
        } else failures.push(unreadable({ name, syncMode }, stream, tools))
      }
      if (jobs.length === 0) return failures
      const outputOf = ({ stream }: Job, now: () => Date) =>
        createAirbyteOutput({
          stream: stream.stream,
          version: versionOf(stream),
          writer: tools.writer,
          now,
        })
      return [...failures, ...(await runSync(jobs, { config, outputOf, ...tools, ...waits }))]
    },
  }
}

async function parsed(input: unknown): Promise<Config> {
  const { parseConfig } = await import('./config.ts')
  return parseConfig(input)
}

function versionOf({ versioned }: Stream): string | undefined {
  return versioned === false ? undefined : 'changeVersion'
}

function isMode(mode: string): mode is Job['mode'] {
  return mode === 'full_refresh' || mode === 'incremental'
}

/** A stream of the catalog that cannot be read as it stands there; the others go on (design D11). */
function unreadable(
  { name, syncMode }: ConfiguredStream,
  stream: Stream | undefined,
  { writer }: CommandTools,
): Failure {
  const output = createAirbyteOutput({
    stream: name,
    version: undefined,
    writer,
    now: () => new Date(),
  })
  output.started()
  output.incomplete()
  const reason =
    stream === undefined
      ? 'There is no stream of this name. Refresh the schema of the connection, or, for activity_definitions, name activity structures in the configuration.'
      : `The sync mode ${syncMode} is not known; choose full_refresh or incremental.`
  return { stream: name, error: new ConnectorError('config', reason) }
}
