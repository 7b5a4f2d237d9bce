import { type Config, configure } from '../config/config.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { PrivacySettings } from '../privacy/privacy-settings.ts'
import { type Redaction, redactionOfStream } from '../privacy/redaction.ts'
import { createUnknownFields } from '../privacy/unknown-fields.ts'
import type { Source } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'
import { availableStreams, INVENTORY, streamSpec } from '../streams/streams.ts'

/** Keeps everything: used without a configuration. */
const COMPLETE: PrivacySettings = {
  mode: 'complete',
  pseudonyms: undefined,
  rules: [],
  unknownFields: 'keep',
}

/** The streams that a configuration can read; without one, the streams that every configuration can read. */
export function offeredStreams(config?: Config): ReadonlyMap<string, Stream> {
  const { activityStructures, privacy } = config ?? { activityStructures: [], privacy: COMPLETE }
  const available = availableStreams({ activityStructures })
  return new Map([...available].filter(([, stream]) => keepsKey(stream, privacy)))
}

/** Why a stream of this name is not offered. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['activity_definitions', 'Name activity structures in the configuration to read it.'],
  ['external_references', 'It is left out because personal_data leaves out its values.'],
])

/**
 * Creates the source from the configuration, the streams and the sync. Only the commands that send requests import the
 * code for it. For `retryPolicy` see `createConnector`.
 */
export function createSource(retryPolicy?: RetryPolicy): Source<Config> {
  const waits = retryPolicy === undefined ? {} : { retryPolicy }
  return {
    unknownStreamHint: (name) => HINTS.get(name),

    configure,

    streams(config) {
      const { privacy } = config ?? { privacy: COMPLETE }
      return [
        ...[...offeredStreams(config).values()].map((stream) => redactedSpec(stream, privacy)),
        streamSpec(INVENTORY),
      ]
    },

    async check(config, tools) {
      const { checkService } = await import('../ask/check.ts')
      return checkService([...offeredStreams(config).values()], { config, ...tools, ...waits })
    },

    async read(config, requests, tools) {
      const { runSync } = await import('../sync/run.ts')
      const available = offeredStreams(config)
      const unknown = createUnknownFields()
      const tasks = requests.flatMap(({ name, state, ...request }) => {
        const stream = name === INVENTORY.stream ? INVENTORY : available.get(name)
        if (stream === undefined) return []
        const redaction = redactionOfStream(stream, config.privacy, unknown.of(name))
        const fields = request.fields ?? redaction.fields
        const requests = { count: 0 }
        return [{ ...request, stream, storedState: state, redaction, fields, requests }]
      })
      const failures = await runSync(tasks, { config, ...tools, ...waits }).finally(() => {
        const warning = unknown.warning()
        if (warning !== undefined) tools.log.warn(warning)
      })
      const ofAll = failures.find(({ stream }) => stream === undefined)
      if (ofAll !== undefined) throw ofAll.error
    },

    activatesVersions: ({ emitsActivateVersions }) => emitsActivateVersions,
  }
}

/** The specification of a stream for catalogs, after redaction. */
function redactedSpec(stream: Stream, privacy: PrivacySettings): ReturnType<typeof streamSpec> {
  let redaction: Redaction | undefined
  const redacted = () => {
    redaction ??= redactionOfStream(stream, privacy)
    return redaction
  }
  return {
    ...streamSpec(stream),
    get schema() {
      return redacted().schema
    },
    get leftOut() {
      return [...redacted().outcomes].flatMap(([path, outcome]) =>
        outcome === 'drop' ? [path] : [],
      )
    },
  }
}

/** Whether the records of a stream still have a key; a stream without one is not offered. */
function keepsKey(stream: Stream, privacy: PrivacySettings): boolean {
  if (stream.key === undefined) return true
  const { outcomes } = redactionOfStream(stream, privacy)
  return stream.key.every((column) => ['keep', 'hash', undefined].includes(outcomes.get(column)))
}
