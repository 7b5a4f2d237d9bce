import { readFileSync } from 'node:fs'
import type { FailureType } from '../../ground/errors.ts'
import type { Mask } from '../../ground/mask.ts'
import {
  failureLine,
  type IdentifiedMessage,
  messageLines,
  type Remedies,
  warningOf,
} from '../../ground/message-ids.ts'
import { clean, LONGEST_ANSWER, logLines } from '../../ground/text.ts'
import type { Log } from '../connector.ts'
import type { Io } from '../program.ts'
import { red } from '../progress/screen.ts'
import type { ProgressListener } from '../progress/sync-progress.ts'

/** The log of a tap or target on stderr, because stdout is the protocol's. */
export interface SingerLog extends Log {
  error(message: IdentifiedMessage, stream?: string, type?: FailureType): void
  /** Writes a result that the user asked for, at every log level. */
  answer(message: string): void
  /** Writes a METRIC line, which Meltano collects. */
  metric(point: MetricPoint): void
}

/** A measurement as the Singer specification defines it. */
export interface MetricPoint {
  readonly type: 'counter' | 'timer'
  readonly metric: string
  /** In seconds for a timer. */
  readonly value: number
  readonly tags: Readonly<Record<string, string>>
}

const LEVELS = ['debug', 'info', 'warning', 'error', 'critical'] as const
type Level = (typeof LEVELS)[number]

const REMEDIES: Remedies = {
  readAnew: 'remove its bookmark from the state, and empty its table',
  leaveOut: 'deselect it in the catalog',
  listStreams: 'discover them again',
  approve: 'add it once to approved_deletes in the configuration',
}

export interface SingerLogSettings {
  readonly name: string
  /** The prefix of the variables `_LOG_FORMAT` and `_LOG_LEVEL`. */
  readonly prefix: string
  readonly mask: Mask
  readonly environment: Io['env']
  readonly stderr: { write(text: string): unknown; readonly isColoured?: boolean }
}

/** Whether the log writes JSON objects for programs. */
export function isJsonLog(environment: Io['env'], prefix: string): boolean {
  return (
    environment['SINGER_SDK_LOG_CONFIG'] !== undefined ||
    environment[`${prefix}_LOG_FORMAT`] === 'json'
  )
}

/**
 * Creates the log. By default it writes only warnings and errors, as plain lines. `SINGER_SDK_LOG_CONFIG`, which
 * Meltano sets, names a JSON file with the log level; then lines are JSON objects with the eight fields that Meltano
 * displays. `TAP_X_LOG_FORMAT=json` has the same effect (for the prefix `TAP_X`).
 */
export function createSingerLog(settings: SingerLogSettings): SingerLog {
  const { name, prefix, mask, environment, stderr } = settings
  const configFile = environment['SINGER_SDK_LOG_CONFIG']
  const threshold = LEVELS.indexOf(levelOf(environment, prefix, configFile))
  const isJson = isJsonLog(environment, prefix)
  const ownLevel = environment[`${prefix}_LOG_LEVEL`]
  if (ownLevel && levelNamed(ownLevel) === undefined)
    warn(
      warningOf(
        'log-level-unknown',
        `${prefix}_LOG_LEVEL must be one of ${LEVELS.join(', ')}; it is ${ownLevel}.`,
      ),
    )
  return {
    debug: (message) => sayLines('debug', logLines(mask.text(message))),
    info: (message) => sayLines('info', logLines(mask.text(message))),
    warn,
    error: (message, stream, type) =>
      say('error', failureLine(message, mask, REMEDIES, { type }), stream),
    answer: (message) => write('info', lineOf(message)),
    metric: (point) =>
      say('info', lineOf(`METRIC: ${JSON.stringify(point)}`), point.tags['stream'] ?? null, point),
  }

  function lineOf(text: string): string {
    return clean(mask.text(text), LONGEST_ANSWER)
  }

  function warn(message: IdentifiedMessage): void {
    sayLines('warning', messageLines(message, mask, REMEDIES))
  }

  function sayLines(level: Level, lines: readonly string[]): void {
    for (const line of lines) say(level, line)
  }

  function say(level: Level, message: string, stream: string | null = null, metric?: object): void {
    if (LEVELS.indexOf(level) >= threshold) write(level, message, stream, metric)
  }

  function write(
    level: Level,
    message: string,
    stream: string | null = null,
    metric?: object,
  ): void {
    const line = `${level.toUpperCase()} ${message}`
    const isRed = level === 'error' && stderr.isColoured === true
    stderr.write(
      isJson
        ? `${JSON.stringify(fields(level, message, stream, metric))}\n`
        : `${red(line, { isColoured: isRed })}\n`,
    )
  }

  function fields(level: Level, message: string, stream: string | null, metric?: object): object {
    return {
      level,
      pid: process.pid,
      logger_name: name,
      ts: Date.now() / 1000,
      thread_name: 'main',
      app_name: name,
      stream_name: stream,
      message,
      ...(metric === undefined ? {} : { metric_info: metric }),
    }
  }
}

function levelOf(environment: Io['env'], prefix: string, configFile: string | undefined): Level {
  const wanted =
    environment[`${prefix}_LOG_LEVEL`] ?? environment['LOG_LEVEL'] ?? levelIn(configFile)
  return levelNamed(wanted) ?? 'warning'
}

function levelNamed(text: string | undefined): Level | undefined {
  const level = text?.toLowerCase().replace(/^warn$/, 'warning')
  return LEVELS.find((name) => name === level)
}

/** The level of the root logger in a logging configuration, otherwise that of the first logger. */
function levelIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const root = config['root'] as { level?: unknown } | undefined
    const loggers = Object.values((config['loggers'] ?? {}) as Record<string, { level?: unknown }>)
    const level = root?.level ?? config['level'] ?? loggers[0]?.level
    return typeof level === 'string' ? level : undefined
  } catch {
    // The file is not ours, so the default level is used if it cannot be read.
    return undefined
  }
}

/** A counter for a stream. */
export function counterOf(stream: string, metric: string, value: number): MetricPoint {
  return { type: 'counter', metric, value, tags: { stream } }
}

/**
 * Writes METRIC lines for a sync, with the names of the Meltano SDK where it has one: the duration of each stream and
 * of the sync, and totals of its requests: all streams share one connection and one rate limiter.
 */
export function createSingerMetrics(log: Pick<SingerLog, 'metric'>): ProgressListener {
  return {
    ended({ name, seconds, status }) {
      const tags = { stream: name, status: statusOf(status === 'complete') }
      log.metric({ type: 'timer', metric: 'sync_duration', value: seconds, tags })
    },
    finished(sync, { failures, stoppedBy }) {
      if (sync === undefined) return
      const { requests, retries, throttled, bytes, responseMs } = sync.traffic
      const counts = {
        http_request_count: requests,
        http_retry_count: retries,
        http_throttled_count: throttled,
        http_response_bytes: bytes,
      }
      for (const [metric, value] of Object.entries(counts))
        log.metric({ type: 'counter', metric, value, tags: {} })
      const status = statusOf(failures.length === 0 && stoppedBy === undefined)
      const timers = { http_request_duration: responseMs / 1000, job_duration: sync.seconds }
      for (const [metric, value] of Object.entries(timers))
        log.metric({ type: 'timer', metric, value, tags: { job_type: 'sync', status } })
    },
  }
}

function statusOf(isSuccess: boolean): string {
  return isSuccess ? 'succeeded' : 'failed'
}
