import { type AcceptanceConfig, type Entry, readJson, type Section } from './acceptance-config.ts'
import { type Checkpoint, sampleCheckpoints } from './checkpoints.ts'
import { type Circumstances, type Execute, execute, type Files } from './execute.ts'
import type { Fields, OfferedStream, ProtocolMessage, Transcript } from './transcript.ts'

/** A connector under judgement: the executable and what is expected of it. */
export interface Subject {
  readonly executable: string
  readonly acceptance: AcceptanceConfig
  /** Configurations by their `config_path`, in place of files. */
  readonly configs?: Readonly<Record<string, Fields>>
  /** Rows that a full read of a stream must contain, where they are known. */
  readonly expected?: (stream: string) => readonly Fields[] | undefined
  /** What runs a command; default: a process. */
  readonly execute?: Execute
}

/** What was read from a state in the middle of a sync. */
export interface SampledRead {
  readonly checkpoint: Checkpoint
  readonly transcript: Transcript
}

/**
 * What the commands of the connector say with one configuration. Each command runs once, when it
 * is asked for first; the transcripts are then shared by the judges.
 */
export interface Evidence {
  readonly subject: Subject
  readonly config: Fields
  readonly entry: (section: Section) => Entry | undefined
  /** The streams to read: those of the entry's catalog or all, without the empty ones. */
  streams(section: Section): Promise<OfferedStream[]>
  spec(): Promise<Transcript>
  check(): Promise<Transcript>
  discover(): Promise<Transcript>
  offered(): Promise<readonly OfferedStream[]>
  fullRefresh(): Promise<Transcript>
  fullRefreshAgain(): Promise<Transcript>
  incremental(): Promise<Transcript>
  /** A read with the last state of `incremental`. */
  incrementalAgain(): Promise<Transcript>
  /** The same with the states in another form than the platform's. */
  incrementalFrom(form: 'global' | 'null'): Promise<Transcript>
  /** Reads of one stream each, from states of `incremental` with records after them. */
  sampled(): Promise<SampledRead[]>
  unknownStream(): Promise<Transcript>
  /** The first stream together with one that does not exist. */
  knownAndUnknown(): Promise<Transcript>
  /** A read with a configuration that lacks what the specification requires. */
  incompleteConfig(): Promise<Transcript>
  /** A full read in other circumstances than a quick pipe. */
  readUnder(circumstances: Circumstances, state?: unknown): Promise<Transcript>
}

/** `given` takes the place of what would be gathered, for what is already known. */
export function gatherEvidence(
  subject: Subject,
  configPath: string,
  given: Partial<Evidence> = {},
): Evidence {
  const { executable, acceptance, execute: run = execute } = subject
  const config = subject.configs?.[configPath] ?? readJson(acceptance, configPath)
  const entry = (section: Section) =>
    acceptance.entries.find((one) => one.section === section && one.config_path === configPath)
  const read = async (section: Section, mode: string, files: Files = {}) =>
    run(executable, 'read', {
      config,
      catalog: configuredCatalog(await evidence.streams(section), mode),
      ...files,
    })
  const evidence: Evidence = {
    subject,
    config,
    entry,
    async streams(section) {
      const { configured_catalog_path: path, empty_streams: empty = [] } = entry(section) ?? {}
      const offered = await evidence.offered()
      const names = path === undefined ? undefined : namesIn(readJson(acceptance, path))
      const isEmpty = (name: string) => empty.some((one) => one.name === name)
      return offered.filter(({ name }) => (names?.includes(name) ?? true) && !isEmpty(name))
    },
    spec: once(() => run(executable, 'spec', {}, { stdout: 'file' })),
    check: once(() => run(executable, 'check', { config }, { stdout: 'file' })),
    discover: once(() => run(executable, 'discover', { config }, { stdout: 'file' })),
    offered: once(async () => {
      const { messages } = await evidence.discover()
      return messages.find(({ catalog }) => catalog !== undefined)?.catalog?.streams ?? []
    }),
    fullRefresh: once(() => read('basic_read', 'full_refresh')),
    async fullRefreshAgain() {
      await evidence.fullRefresh()
      return again()
    },
    incremental: once(() => read('incremental', 'incremental', { state: [] })),
    incrementalAgain: once(async () => {
      // What PyAirbyte and the platform do: the last state of each stream, in one list.
      const state = lastStates(await evidence.incremental())
      return read('incremental', 'incremental', { state })
    }),
    async incrementalFrom(form) {
      const states = lastStates(await evidence.incremental())
      return read('incremental', 'incremental', { state: inForm(form, states) })
    },
    sampled: once(async () => {
      const streams = await evidence.streams('incremental')
      const first = await evidence.incremental()
      const ofStream = async (stream: OfferedStream) => {
        const catalog = configuredCatalog([stream], 'incremental')
        const reads: SampledRead[] = []
        // One after another, because two reads of a stream may get in each other's way.
        for (const checkpoint of sampleCheckpoints(first, stream)) {
          const files = { config, catalog, state: [checkpoint.state] }
          reads.push({ checkpoint, transcript: await run(executable, 'read', files) })
        }
        return reads
      }
      return (await inParallel(streams, ofStream)).flat()
    }),
    unknownStream: once(() =>
      run(executable, 'read', { config, catalog: configuredCatalog([MISSING], 'INVALID') }),
    ),
    knownAndUnknown: once(async () => {
      const [first] = await evidence.streams('basic_read')
      const known = first === undefined ? [] : [first]
      const catalog = configuredCatalog([MISSING, ...known], 'full_refresh')
      return run(executable, 'read', { config, catalog })
    }),
    incompleteConfig: once(async () => {
      const catalog = configuredCatalog(await evidence.streams('basic_read'), 'full_refresh')
      return run(executable, 'read', { config: await incomplete(evidence), catalog })
    }),
    async readUnder(circumstances, state) {
      const catalog = configuredCatalog(await evidence.streams('basic_read'), 'full_refresh')
      return run(executable, 'read', { config, catalog, state }, circumstances)
    },
  }
  const again = once(() => read('basic_read', 'full_refresh'))
  return Object.assign(evidence, given)
}

/** The name of the stream that CAT and FAST ask for to see the connector refuse. */
export const MISSING: OfferedStream = {
  name: '__AIRBYTE__stream_that_does_not_exist',
  json_schema: { type: 'object', properties: { f1: { type: 'string' } } },
  supported_sync_modes: ['full_refresh'],
}

function configuredCatalog(streams: readonly OfferedStream[], mode: string): object {
  return {
    streams: streams.map((stream) => ({
      stream,
      sync_mode: mode,
      destination_sync_mode: mode === 'full_refresh' ? 'overwrite' : 'append_dedup',
      cursor_field: stream.default_cursor_field ?? [],
      primary_key: stream.source_defined_primary_key ?? [],
    })),
  }
}

function namesIn(catalog: Fields): string[] {
  const { streams } = catalog as { streams: readonly { stream: { name: string } }[] }
  return streams.map(({ stream }) => stream.name)
}

type State = NonNullable<ProtocolMessage['state']>

/** The states as one GLOBAL message, or with each blob null, which resets its stream. */
function inForm(form: 'global' | 'null', states: readonly State[]): object[] {
  if (form === 'null')
    return states.map((state) => ({ ...state, stream: { ...state.stream, stream_state: null } }))
  return [{ type: 'GLOBAL', global: { stream_states: states.map(({ stream }) => stream) } }]
}

function lastStates({ messages }: Transcript): State[] {
  const last = new Map<string, State>()
  for (const { state } of messages) {
    if (state?.stream !== undefined) last.set(state.stream.stream_descriptor.name, state)
  }
  return [...last.values()]
}

/** The configuration without the first property that the specification requires. */
async function incomplete({ config, spec }: Evidence): Promise<Fields> {
  const { messages } = await spec()
  const specification = messages.find((message) => message.spec)?.spec?.connectionSpecification
  const [required] = (specification?.['required'] ?? []) as string[]
  return Object.fromEntries(Object.entries(config).filter(([name]) => name !== required))
}

/** Enough to keep two cores busy. */
const WORKERS = 3

async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const queue = items.values()
  const results: Result[] = []
  const worker = async () => {
    for (const item of queue) results.push(await work(item))
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  return results
}

function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined
  return () => {
    made ??= make()
    return made
  }
}
