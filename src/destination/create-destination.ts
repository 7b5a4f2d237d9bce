import { appendFileSync, closeSync, constants, fstatSync, ftruncateSync, readSync } from 'node:fs'
import { createServiceClient } from '../client/create-service-client.ts'
import type { ServiceClient } from '../client/service-client.ts'
import { type Config, parseConfig } from '../config/config.ts'
import { configWarnings } from '../config/config-faults.ts'
import { parseWriteSettings, SYNC_MODES, type WriteSettings } from '../config/write-settings.ts'
import { ConnectorError } from '../ground/errors.ts'
import { about, type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { openOwnFile } from '../ground/private-file.ts'
import type { ProcessLock } from '../ground/process-lock.ts'
import { notTheApi, resourceUrl, scopeName } from '../http/endpoints.ts'
import { CHECK_RETRY_MS, type RetryPolicy, retryPolicyOf } from '../http/retry.ts'
import { createSession, type Session, type SessionSettings } from '../http/session.ts'
import { hasScope } from '../http/token.ts'
import type { CheckResult, Failure } from '../protocol/connector.ts'
import type { Destination, ObjectSpec, WriteSession, WriteTools } from '../protocol/destination.ts'
import { openObject } from '../write/journal.ts'
import { type ObjectName, objects, scopesOf } from '../write/objects.ts'
import { countsInWords, failureOf, isRefusal, type Outcome, warningsOf } from '../write/outcome.ts'
import { createWriter, type Writer } from '../write/writer.ts'

/**
 * The file for rejected records, one JSON line each, to be corrected and written again; without a path nothing is kept.
 * Only the owner can read it: records may name people.
 */
function createRejectedRecords(path: string | undefined) {
  const file = path === undefined ? undefined : openRejected(path)
  const records = new Map<number, Readonly<Record<string, unknown>>>()
  return {
    /** Keeps a record until its outcome is known. */
    remember(ordinal: number, data: Readonly<Record<string, unknown>>): void {
      if (file !== undefined) records.set(ordinal, data)
    },
    /** Discards the record of an outcome; a rejected one is appended to the file before, with the reason. */
    settle({ ordinal = 0, object, reason, status }: Outcome, isRejected: boolean): void {
      const line = { object, reason, status, record: records.get(ordinal) }
      if (file !== undefined && isRejected) file.append(`${JSON.stringify(line)}\n`)
      records.delete(ordinal)
    },
    close(): void {
      file?.close()
    },
  }
}

/** The file for rejected records. A line that cannot be written whole is an error, and no part of it stays. */
function openRejected(path: string) {
  const file = open(path)
  return {
    append(line: string): void {
      const { size } = fstatSync(file)
      try {
        appendFileSync(file, line)
      } catch (error) {
        ftruncateSync(file, size)
        throw notWritten(path, error)
      }
    },
    close: () => closeSync(file),
  }
}

/** The beginning of each line. */
const LINE = '{"object":'

/** Opens a new file, an empty one, or that of an earlier run; nobody else can read it. */
function open(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT } = constants
  let file: number | undefined
  try {
    file = openOwnFile(path, O_RDWR | O_APPEND | O_CREAT)
    if ((fstatSync(file).mode & 0o077) !== 0) throw new Error('other users may read it')
    const start = Buffer.alloc(LINE.length)
    const length = readSync(file, start, 0, LINE.length, 0)
    if (length > 0 && start.toString() !== LINE) throw new Error('it has other content')
    return file
  } catch (error) {
    if (file !== undefined) closeSync(file)
    throw error instanceof ConnectorError ? error : notWritten(path, error)
  }
}

function notWritten(path: string, error: unknown): ConnectorError {
  const { code, message } = error as NodeJS.ErrnoException
  return new ConnectorError(
    'config',
    'rejected-records-not-written',
    `The file given by rejected_records cannot be written (${code ?? message}): ${path}.`,
  )
}

/** The configuration for writing: that of the connection, and the writer's settings. */
export interface DestinationConfig {
  readonly service: Config
  readonly writing: WriteSettings
}

/** A writer of one object, with a client whose token allows only that object. */
interface ObjectWriter {
  readonly lock: ProcessLock
  readonly client: ServiceClient
  readonly writer: Writer
}

/**
 * Opens a run of writing. Each object has its own client, created at its first record, so that only the
 * permissions for these records are requested.
 */
function openWriteSession(
  { service, writing }: DestinationConfig,
  { log, mask, signal, onOutcome, ...waits }: WriteTools & { readonly retryPolicy?: RetryPolicy },
): WriteSession {
  const writers = new Map<ObjectName, ObjectWriter>()
  const refusedMirrors: Failure[] = []
  const rejectedRecords = createRejectedRecords(
    writing.dryRun ? undefined : writing.rejectedRecords,
  )
  // A run writes no other file, so its lock is beside this one.
  const lockedFile = writing.dryRun ? undefined : writing.rejectedRecords
  return {
    isDryRun: writing.dryRun,

    get failed() {
      return new Map([...writers.values()].flatMap(({ writer }) => [...writer.summary.failures]))
    },

    async add({ object, ...record }) {
      rejectedRecords.remember(record.ordinal, record.data)
      const name = object as ObjectName
      await (await writerOf(name)).add({ object: name, ...record })
    },

    async flush() {
      for (const { writer } of writers.values()) await writer.flush()
    },

    async complete(object) {
      if (!writing.mirror) return
      try {
        await (await writerOf(object as ObjectName)).mirror(object as ObjectName)
      } catch (error) {
        if (!(error instanceof ConnectorError && error.failure === 'config')) throw error
        refusedMirrors.push({ stream: object, error })
      }
    },

    async close() {
      rejectedRecords.close()
      for (const [object, { client, writer, lock }] of writers) {
        const counts = countsInWords(writer.summary, writing.dryRun)
        if (counts !== '') log.info(`${object}: ${counts}`)
        for (const warning of warningsOf(writer.summary)) log.warn(about(object, warning))
        await client.close()
        await lock.release()
      }
      return [...refusedMirrors, ...failedOutcomes()]
    },
  }

  /** Calls do not overlap. */
  async function writerOf(object: ObjectName): Promise<Writer> {
    const known = writers.get(object)
    if (known !== undefined) return known.writer
    const lock = await openObject(lockedFile, service, object)
    // What the service says about references may have values, which the log must not show.
    const hidesServiceWords = service.hidesServiceWords || object === 'external_references'
    const client = createServiceClient(
      { ...service, hidesServiceWords },
      {
        scopes: scopesOf([object]),
        mask,
        signal,
        log,
        onRetry: ({ reason }) => log.info(`${object}: ${reason}`),
        ...waits,
      },
    )
    const writer = createWriter({
      client,
      settings: writing,
      onOutcome: told,
      onUnknownMember: (_, words) =>
        log.warn(
          warningOf(
            'member-ignored',
            `${object}: ${words} It is ignored, as other columns of a table are.`,
          ),
        ),
      signal,
      journal: lock.journal,
    })
    writers.set(object, { client, writer, lock })
    return writer
  }

  function told(outcome: Outcome): void {
    const { ordinal, object, outcome: kind } = outcome
    if (writing.dryRun && !isRefusal(outcome)) log.info(inWords(outcome))
    if (ordinal === undefined) {
      // A deletion of the mirror; no record waits for it.
      if (isRefusal(outcome)) log.warn(warningOf('record-rejected', inWords(outcome)))
      return
    }
    // The failure of the object is reported once, instead of a rejection per record.
    const isFailed = writers.get(object)?.writer.summary.failures.has(object) === true
    const isRejected = isRefusal(outcome) && !isFailed
    rejectedRecords.settle(outcome, isRejected)
    // If a run that fails passed on a state that covers the record, the next attempt would not get the record again,
    // and would look successful.
    const isPending = isRejected && kind === 'unknown'
    const isTolerated = isRejected && !isPending
    const rejection = isRejected ? reasonOf(outcome) : undefined
    onOutcome({ ordinal, rejection, isPending, isTolerated })
  }

  function failedOutcomes(): Failure[] {
    const { maxRejected, dryRun } = writing
    // An object that cannot be written is a failure of its own.
    const summaries = [...writers].flatMap(
      ([
        object,
        {
          writer: { summary },
        },
      ]) => (summary.failures.has(object) ? [] : summary.counts),
    )
    const sum = (kind: 'rejected' | 'ambiguous' | 'unknown') =>
      summaries.reduce((count, counts) => count + counts[kind], 0)
    const counts = {
      rejected: sum('rejected'),
      ambiguous: sum('ambiguous'),
      unknown: sum('unknown'),
    }
    const error = failureOf(counts, maxRejected, dryRun)
    if (error === undefined) return []
    const message = `${error.message} The log says why. No state that covers them was passed on.`
    return [{ error: new ConnectorError(error.failure, error.id, message) }]
  }
}

function reasonOf({ key, reason = '' }: Outcome): string {
  const names = namesOf(key)
  return names === '' ? reason : `${names}: ${reason}`
}

function namesOf(key: Outcome['key']): string {
  return Object.entries(key)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

function inWords({ object, key, outcome, dryRun, reason }: Outcome): string {
  const words = `${object}: ${namesOf(key)}: ${dryRun ? 'would be ' : ''}${outcome}`
  return reason === undefined ? words : `${words}: ${reason}`
}

/** A read of each object, to check that it is available. */
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
    const others = names.flatMap((name, i) => (faults[i] ? `${name}: ${faults[i].message}` : []))
    // What all objects have in common, such as a wrong secret, is said once.
    const isShared = new Set(faults.map((fault) => fault?.message)).size === 1
    const reasons = isShared ? [faults[0]?.message] : others
    const opening =
      writable.length === 0 ? 'Nothing can be written.' : `${list(writable)} can be written.`
    return {
      isUsable: writable.length > 0,
      message: [opening, ...reasons].filter(Boolean).join(' '),
      id: isShared ? faults[0]?.id : undefined,
    }
  } finally {
    await session.close()
  }
}

/** Why an object cannot be written; undefined when it can. */
async function faultOf(
  name: ObjectName,
  { client, endpoints }: Session,
): Promise<IdentifiedMessage | undefined> {
  try {
    const token = await client.token()
    const missing = objects[name].scopes.filter((scope) => !hasScope(token, endpoints, [scope]))
    if (missing.length > 0)
      return {
        id: 'scope-missing',
        message: `the client lacks ${list(missing.map((scope) => scopeName(endpoints, scope)))}. Ask the operator of the service for ${missing.length === 1 ? 'it' : 'them'}.`,
      }
    const isApi = await client.probe(resourceUrl(LISTS[name], endpoints))
    return isApi ? undefined : notTheApi(endpoints)
  } catch (error) {
    if (error instanceof ConnectorError) return error
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
      // Even if the configuration is invalid: a warning may say why.
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
    // `overwrite` deletes what is not sent, and only a mirror may delete.
    modes: SYNC_MODES.filter((mode) => mode !== 'overwrite' || mirror),
  }
}
