import { constants } from 'node:fs'
import { access, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ConnectorError } from '../errors.ts'
import { completionsIn, metricsText } from './metrics-text.ts'
import type { ProgressListener, SyncOutcome, SyncProgress } from './sync-progress.ts'

export interface MetricsFileSettings {
  readonly path: string
  /** Begins the name of each metric. */
  readonly prefix: string
  /** The value of the label `program`. */
  readonly program: string
  readonly now?: () => Date
}

/** A file of metrics in Prometheus' text format, as the textfile collector of its node exporter reads it. */
export interface MetricsFile extends ProgressListener {
  /** Throws a config error when the file could not be written later. */
  assertWritable(): Promise<void>
  /**
   * Writes how the sync went, in one piece: a reader sees the old file or the new one. When a stream was
   * complete last is kept from the old one. Throws a config error.
   */
  write(): Promise<void>
}

export function createMetricsFile(settings: MetricsFileSettings): MetricsFile {
  const { path, prefix, program, now = () => new Date() } = settings
  let sync: SyncProgress | undefined
  let outcome: SyncOutcome = { failures: [] }
  return {
    finished(at, how) {
      sync = at
      outcome = how
    },
    async assertWritable() {
      const folder = dirname(resolve(path))
      await access(folder, constants.W_OK).catch((error) => {
        throw unwritable(path, error)
      })
    },
    async write() {
      const completions = completionsIn(await textOf(path), prefix)
      const text = metricsText({ sync, outcome, completions, prefix, program, at: now() })
      // Beside the file, because only within one file system a rename is one step. The collector reads *.prom.
      const partial = `${path}.${process.pid}.tmp`
      try {
        await writeFile(partial, text)
        await rename(partial, path)
      } catch (error) {
        await rm(partial, { force: true })
        throw unwritable(path, error)
      }
    },
  }
}

/** The text of the last sync's file; empty when there is none. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw unwritable(path, error)
  }
}

function unwritable(path: string, error: unknown): ConnectorError {
  const { code } = error as NodeJS.ErrnoException
  return new ConnectorError(
    'config',
    `The file given by --metrics cannot be written (${code}): ${path}. Its folder must exist and be writable.`,
    { cause: error },
  )
}
