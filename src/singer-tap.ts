import type { Config } from './config.ts'
import type { RetryPolicy } from './http/retry-policy.ts'
import { packageDescription, packageVersion, readProjectJson } from './project-files.ts'
import type { Log } from './protocol/log.ts'
import type { SelectedStream } from './protocol/singer/catalog.ts'
import type { SingerTap, TapTools } from './protocol/singer/cli.ts'
import type { SettingsSchema } from './protocol/singer/setting-rows.ts'
import type { StateWriter } from './protocol/singer/state.ts'
import type { Stream } from './streams/collection.ts'
import type { Job } from './sync/plan.ts'
import type { RunSettings } from './sync/run.ts'

/**
 * The connector as Singer sees it: the same configuration, catalogue and sync as over the Airbyte
 * protocol, with another encoder. `patience` is for tests.
 */
export function createSingerTap(patience?: RetryPolicy): SingerTap {
  const waits = patience === undefined ? {} : { patience }
  return {
    environmentPrefix: 'TAP_PROTIME',
    about: {
      name: 'tap-protime',
      version: packageVersion(),
      description: packageDescription(),
      settings: (readProjectJson('#spec') as { connectionSpecification: SettingsSchema })
        .connectionSpecification,
    },

    async secrets(input) {
      const { secretsOf } = await import('./config.ts')
      return secretsOf(input)
    },

    async discover(input, { log }) {
      const { streamSpec } = await import('./streams/stream-spec.ts')
      const { singerStream } = await import('./protocol/singer/catalog.ts')
      const { availableStreams } = await import('./streams/available-streams.ts')
      const streams =
        input === undefined
          ? availableStreams({ activityStructures: [] })
          : (await offered(input, log)).streams
      return [...streams.values()].map((stream) => singerStream(streamSpec(stream)))
    },

    async check(input, tools) {
      const { checkService } = await import('./sync/check.ts')
      const { config, streams } = await offered(input, tools.log)
      return checkService([...streams.values()], { config, ...tools, ...waits })
    },

    async sync(input, selection, bookmarks, states, tools) {
      const { unknownStream } = await import('./streams/available-streams.ts')
      const { runSync } = await import('./sync/run.ts')
      const { config, streams } = await offered(input, tools.log)
      const chosen = selection ?? [...streams.keys()].map(whole)
      const jobs = chosen.flatMap(({ name }): Job[] => {
        const stream = streams.get(name)
        return stream ? [{ stream, mode: 'incremental', state: bookmarks[name] }] : []
      })
      const refused = chosen
        .filter(({ name }) => !streams.has(name))
        .map(({ name }) => ({ stream: name, error: unknownStream() }))
      if (jobs.length === 0) return refused
      const outputOf = await outputs(chosen, config, states, tools)
      return runSync(jobs, { config, outputOf, refused, ...tools, ...waits })
    },
  }
}

/** A configuration and what it offers; what it says without effect is warned of. */
async function offered(
  input: unknown,
  log: Log,
): Promise<{ config: Config; streams: ReadonlyMap<string, Stream> }> {
  const { parseConfig } = await import('./config.ts')
  const { configWarnings } = await import('./config-warnings.ts')
  const { availableStreams } = await import('./streams/available-streams.ts')
  for (const warning of configWarnings(input)) log.warn(warning)
  const config = parseConfig(input)
  return { config, streams: availableStreams(config) }
}

/** The selection of a stream without a catalog: all of it. */
function whole(name: string): SelectedStream {
  return { name, isSelected: () => true }
}

/** How each job's end is made: its fields as the catalog selects them. */
async function outputs(
  chosen: readonly SelectedStream[],
  config: Config,
  states: StateWriter,
  tools: TapTools,
): Promise<RunSettings['outputOf']> {
  const { streamSpec } = await import('./streams/stream-spec.ts')
  const { recordSchema } = await import('./protocol/singer/catalog.ts')
  const { projectionOf, projectSchema, withoutTwins } = await import(
    './protocol/singer/projection.ts'
  )
  const { createSingerOutput } = await import('./protocol/singer/stream-output.ts')
  const selections = new Map(chosen.map((stream) => [stream.name, stream]))
  return ({ stream }, now) => {
    const facts = streamSpec(stream)
    const schema = recordSchema(facts)
    const { isSelected } = selections.get(facts.name) ?? whole(facts.name)
    const projection = projectionOf(schema, isSelected)
    return createSingerOutput({
      ...facts,
      ...tools,
      stream: facts.name,
      schema: withoutTwins(projectSchema(schema, projection)),
      projection,
      activatesVersions: config.emitsActivateVersions,
      states,
      now,
    })
  }
}
