import type { Failure, ReadJob, ReadTools, Source } from '../connector.ts'
import { ConnectorError, unknownStream } from '../errors.ts'
import type { ProgressListener } from '../progress/sync-progress.ts'
import { type ConfiguredStream, chosenFields } from './catalog.ts'
import * as messages from './messages.ts'
import type { CommandTools } from './report.ts'
import { createAirbyteOutput, createAirbyteStates } from './stream-output.ts'

/** What is to be read. */
export interface Reading {
  readonly chosen: readonly ConfiguredStream[]
  /** The stored bookmarks, by stream. */
  readonly states: ReadonlyMap<string, unknown>
}

/**
 * Reads the chosen streams. One that cannot be read as the catalog has it begins and ends as
 * incomplete, and is among the failures that come back; the others are read.
 */
export async function read<Config>(
  source: Source<Config>,
  config: Config,
  { chosen, states }: Reading,
  tools: CommandTools & Pick<ReadTools, 'observer'>,
): Promise<readonly Failure[]> {
  const { writer } = tools
  const offered = new Map(source.streams(config).map((spec) => [spec.name, spec]))
  const shared = createAirbyteStates()
  const refused: Failure[] = []
  const jobs: ReadJob[] = []
  for (const configured of chosen) {
    const { name, syncMode: mode } = configured
    const spec = offered.get(name)
    if (spec === undefined)
      refuse(name, unknownStream(name, offered.keys(), source.unknownStreamHint))
    else if (mode !== 'full_refresh' && mode !== 'incremental') refuse(name, unknownMode(mode))
    else {
      const output: ReadJob['output'] = (now = () => new Date()) =>
        createAirbyteOutput({
          stream: name,
          version: spec.version,
          rules: chosenFields(spec, configured),
          writer,
          states: shared,
          now,
        })
      jobs.push({ name, mode, state: states.get(name), output })
    }
  }
  const failed = jobs.length === 0 ? [] : await source.read(config, jobs, { ...tools, refused })
  return [...refused, ...failed]

  function refuse(stream: string, error: ConnectorError): void {
    for (const status of ['STARTED', 'INCOMPLETE'] as const)
      void writer.write(`${messages.streamStatus(stream, status)}\n`)
    refused.push({ stream, error })
  }
}

/** Tells the platform how many rows are to come of a stream that was counted before. */
export function createEstimates({ writer }: Pick<CommandTools, 'writer'>): ProgressListener {
  return {
    started({ name, start }) {
      if (start.expected === undefined) return
      void writer.write(`${messages.estimate(name, start.expected)}\n`)
    },
  }
}

function unknownMode(mode: string): ConnectorError {
  return new ConnectorError(
    'config',
    `The sync mode ${mode} is not known; choose full_refresh or incremental.`,
  )
}
