import { type Config, configure } from '../config/config.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { PrivacySettings } from '../privacy/privacy-settings.ts'
import { keepsKey, treatedSpec, treatmentOfStream } from '../privacy/treatment.ts'
import type { ReadJob, Source } from '../protocol/connector.ts'
import type { Stream } from '../streams/collection.ts'
import { availableStreams } from '../streams/streams.ts'
import type { RunSettings } from '../sync/run.ts'

/** Without a configuration nothing is known to be left out. */
const COMPLETE: PrivacySettings = {
  mode: 'complete',
  key: undefined,
  rules: [],
  unknownFields: 'keep',
}

/** The streams that a configuration can read; without one, what every configuration can read. */
export function offeredStreams(config?: Config): ReadonlyMap<string, Stream> {
  const { activityStructures, privacy } = config ?? { activityStructures: [], privacy: COMPLETE }
  const available = availableStreams({ activityStructures })
  return new Map([...available].filter(([, stream]) => keepsKey(stream, privacy)))
}

/**
 * Configuration, streams and sync put together; for `retryPolicy` see `createConnector`. What talks to
 * the service is loaded by the commands that do.
 */
export function createSource(retryPolicy?: RetryPolicy): Source<Config> {
  const waits = retryPolicy === undefined ? {} : { retryPolicy }
  return {
    unknownStreamHint:
      'For activity_definitions, name activity structures in the configuration. external_references is left out where personal_data leaves out its values.',

    configure,

    streams(config) {
      const { privacy } = config ?? { privacy: COMPLETE }
      return [...offeredStreams(config).values()].map((stream) => treatedSpec(stream, privacy))
    },

    async check(config, tools) {
      const { checkService } = await import('../ask/check.ts')
      return checkService([...offeredStreams(config).values()], { config, ...tools, ...waits })
    },

    async read(config, readJobs, tools) {
      const { runSync } = await import('../sync/run.ts')
      const available = offeredStreams(config)
      const jobs = readJobs.flatMap(({ name, mode, state, startOver }) => {
        const stream = available.get(name)
        if (stream === undefined) return []
        const onUnknown = (field: string) => tools.log.warn(leavesOut(name, field))
        const treatment = treatmentOfStream(stream, config.privacy, onUnknown)
        return [{ stream, mode, state, startOver, treatment }]
      })
      const outputs = new Map(readJobs.map(({ name, output }) => [name, output]))
      const outputOf: RunSettings['outputOf'] = ({ stream }, now) =>
        (outputs.get(stream.stream) as ReadJob['output'])(now)
      const failures = await runSync(jobs, { config, outputOf, ...tools, ...waits })
      return failures.filter((failure) => !tools.refused.includes(failure))
    },

    async originOf(state, config) {
      const { originOf } = await import('../sync/plan.ts')
      return originOf(state, config)
    },

    activatesVersions: ({ emitsActivateVersions }) => emitsActivateVersions,
  }
}

function leavesOut(stream: string, field: string): string {
  return `${stream}: the service sends ${field}, which the schema does not know, so it is left out (unknown_fields). Keep it by a rule in field_rules.`
}
