import { asConnectorError } from '../../ground/errors.ts'
import { createMask } from '../../ground/mask.ts'
import { type IdentifiedMessage, withId } from '../../ground/message-ids.ts'
import type { Source, StreamOutput, StreamRequest } from '../../protocol/connector.ts'
import {
  createJsonBatch,
  type DELETE,
  type SKIP,
  type SOFT_DELETE,
  UPSERT,
} from '../../records/record-batch.ts'
import type { JsonSchema, StreamSpec } from '../../records/stream-spec.ts'
import { syncWarehouse, type WarehouseSyncSettings } from '../sync-warehouse.ts'

/** A record as JSON text, or one with what it says of its row. */
export type Sent =
  | string
  | { readonly json: string; readonly op: typeof DELETE | typeof SOFT_DELETE | typeof SKIP }

/** What one sync of a stream says to its output; one that does not complete it is interrupted there. */
export type Script = (output: StreamOutput) => Promise<void>

/** A stream with the key `id`. */
export function streamOf(
  name: string,
  properties: NonNullable<JsonSchema['properties']>,
): StreamSpec {
  const schema = { type: 'object', properties: { id: { type: 'integer' }, ...properties } }
  const kinds = { isIncremental: true, hasDeletes: true, hasGenerations: true }
  return { name, schema, key: ['id'], version: 'changeVersion', ...kinds }
}

/** Sends records on one page, and ends well; the bookmark counts the records of all syncs. */
export function sending(...records: readonly Sent[]): Script {
  return async (output) => {
    await send(output, records)
    await output.complete()
  }
}

export async function send(
  output: Pick<StreamOutput, 'records'>,
  records: readonly Sent[],
  generation = 1,
): Promise<void> {
  const batch = createJsonBatch(
    records.map((record) => ({ json: typeof record === 'string' ? record : record.json })),
  )
  records.forEach((record, i) => {
    const { json, op } = typeof record === 'string' ? { json: record, op: UPSERT } : record
    batch.ops[i] = op
    batch.keys[i] = keyOf(json)
  })
  await output.records(batch, { generation, cursor: 1, now: new Date() })
}

/** A key that is an integer, as a scanner tells it. */
function keyOf(json: string): number {
  const { id } = JSON.parse(json) as { readonly id?: unknown }
  return typeof id === 'number' ? id : Number.NaN
}

/** What each stream says in one sync. */
export type Scripts = ReadonlyMap<StreamSpec, Script>

/** A source whose streams say what they are told to, one after the other; `states` are what it was given, and `startedOver` those that it was to read from the beginning. */
function createListSource(scripts: Scripts) {
  const states = new Map<string, unknown>()
  const startedOver = new Set<string>()
  const source: Source<null> = {
    configure: () => null,
    streams: () => [...scripts.keys()],
    check: async () => ({ isUsable: true, message: '' }),
    async read(_config, requests: readonly StreamRequest[]) {
      for (const { name, state, startOver, output } of requests) {
        states.set(name, state)
        if (startOver !== undefined) startedOver.add(name)
        const [, script] = [...scripts].find(([spec]) => spec.name === name) ?? []
        output.started(() => ({ syncs: Number((state as { syncs?: number })?.syncs ?? 0) + 1 }))
        await script?.(output).catch((error) => output.failed(asConnectorError(error)))
      }
    },
  }
  return { source, states, startedOver }
}

/** A sync of lists into a DuckDB file, with what it logged. */
export async function syncLists(
  path: string,
  scripts: Scripts,
  settings: Partial<WarehouseSyncSettings<null>> = {},
) {
  const { source, states, startedOver } = createListSource(scripts)
  const [warnings, infos]: string[][] = [[], []]
  const log = {
    debug() {},
    info: (text: string) => void infos?.push(text),
    warn: (message: IdentifiedMessage) => void warnings?.push(withId(message)),
  }
  const done = await syncWarehouse({
    source,
    config: null,
    path,
    owner: { tenant: 'acme', environment: 'custom', redaction: '' },
    exitCodeOf: ({ failures }) => (failures.length === 0 ? 0 : 1),
    tools: { log, mask: createMask(), signal: new AbortController().signal },
    ...settings,
  })
  const failures = done.failures.filter(({ error }) => error.id !== 'stream-not-ended')
  const logged = { warnings: warnings ?? [], infos: infos ?? [] }
  return { ...done, failures, states, startedOver, ...logged }
}
