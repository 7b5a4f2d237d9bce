import { closeSync, fchmodSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { createServiceClient } from '../client/create-service-client.ts'
import type { ServiceClient } from '../client/service-client.ts'
import type { Config } from '../config/config.ts'
import type { WriteSettings } from '../config/write-settings.ts'
import { ConnectorError } from '../ground/errors.ts'
import type { ProcessLock } from '../ground/process-lock.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { Failure } from '../protocol/connector.ts'
import type { WriteSession, WriteTools } from '../protocol/destination.ts'
import { type ObjectName, scopesOf } from '../write/objects.ts'
import {
  countsInWords,
  failureInWords,
  isRefusal,
  type Outcome,
  warningsOf,
} from '../write/outcome.ts'
import { lockObject } from '../write/write-lock.ts'
import { createWriter, type Writer } from '../write/writer.ts'

/** The file that rejected records are appended to, one JSON line each, to be mended and written again. */
interface RejectedRecords {
  /** Keeps a record until its outcome is told. */
  remember(ordinal: number, data: Readonly<Record<string, unknown>>): void
  /** Appends the record of an outcome, with why it was rejected. */
  write(outcome: Outcome): void
  /** Ends the wait for an outcome. */
  forget(ordinal: number): void
  close(): void
}

/** Without a file, nothing is kept. The file is for its owner alone: records may name people. */
function createRejectedRecords(path: string | undefined): RejectedRecords {
  if (path === undefined) return { remember() {}, write() {}, forget() {}, close() {} }
  const file = open(path)
  const records = new Map<number, Readonly<Record<string, unknown>>>()
  return {
    remember: (ordinal, data) => void records.set(ordinal, data),
    write({ ordinal = 0, object, reason, status }) {
      writeSync(
        file,
        `${JSON.stringify({ object, reason, status, record: records.get(ordinal) })}\n`,
      )
    },
    forget: (ordinal) => void records.delete(ordinal),
    close: () => closeSync(file),
  }
}

function open(path: string): number {
  try {
    const file = openSync(path, 'a', 0o600)
    // One that exists has kept its mode.
    fchmodSync(file, 0o600)
    return file
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      'rejected-records-not-written',
      `The file given by rejected_records cannot be written (${code}): ${path}.`,
    )
  }
}

/** The configuration of what writes: that of the connection, and the writer's own. */
export interface DestinationConfig {
  readonly service: Config
  readonly writing: WriteSettings
}

/** A writer of one object, over a client whose token allows that alone. */
interface ObjectWriter {
  readonly lock: ProcessLock
  readonly client: ServiceClient
  readonly writer: Writer
}

/**
 * Opens a run of writing. Each object has a client of its own, made when its first record comes, so that the
 * permissions that are asked for are those of the records.
 */
export function openWriteSession(
  { service, writing }: DestinationConfig,
  { log, mask, signal, onOutcome, ...waits }: WriteTools & { readonly retryPolicy?: RetryPolicy },
): WriteSession {
  const writers = new Map<ObjectName, ObjectWriter>()
  const refusedMirrors: Failure[] = []
  let [rejected, unknown] = [0, 0]
  const rejectedRecords = createRejectedRecords(
    writing.dryRun ? undefined : writing.rejectedRecords,
  )
  // All that a run leaves on a disk is there, so that two runs meet there.
  const isLocked = writing.rejectedRecords !== undefined && !writing.dryRun
  const folder = isLocked ? dirname(writing.rejectedRecords) : undefined
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
        for (const warning of warningsOf(writer.summary)) log.warn(`${object}: ${warning}`)
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
    const lock = await lockObject(folder, service.baseUrl, object)
    const client = createServiceClient(service, {
      scopes: scopesOf([object]),
      mask,
      signal,
      log,
      onRetry: ({ reason }) => log.info(`${object}: ${reason}`),
      ...waits,
    })
    const writer = createWriter({
      client,
      settings: writing,
      onOutcome: told,
      onUnknownMember: (_, words) =>
        log.warn(`${object}: ${words} It is ignored, as other columns of a table are.`),
      signal,
    })
    writers.set(object, { client, writer, lock })
    return writer
  }

  function told(outcome: Outcome): void {
    const { ordinal, object, outcome: kind } = outcome
    if (writing.dryRun && !isRefusal(outcome)) log.info(inWords(outcome))
    if (ordinal === undefined) {
      // A deletion of the mirror; no record waits for it.
      if (isRefusal(outcome)) log.warn(inWords(outcome))
      return
    }
    // The failure of the object is told once, in place of a rejection per record.
    const isFailed = writers.get(object)?.writer.summary.failures.has(object) === true
    const rejection = isRefusal(outcome) && !isFailed ? reasonOf(outcome) : undefined
    if (rejection !== undefined) {
      if (kind === 'unknown') unknown++
      else rejected++
      rejectedRecords.write(outcome)
    }
    rejectedRecords.forget(ordinal)
    // Covered by a state of a run that fails, it would not come again, and a second attempt would look as if all were well.
    const isPending = rejection !== undefined && kind === 'unknown'
    const isTolerated = rejection !== undefined && !isPending
    onOutcome({ ordinal, rejection, isPending, isTolerated })
  }

  function failedOutcomes(): Failure[] {
    const { maxRejected, dryRun } = writing
    const reason = failureInWords({ rejected, unknown }, maxRejected, dryRun)
    if (reason === undefined) return []
    const message = `${reason} The log says why. No state that covers them was passed on.`
    return [{ error: new ConnectorError('config', 'records-failed', message) }]
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
