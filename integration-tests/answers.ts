import type { Ended } from './engines/meltano/command.ts'

/** A line of a program's output. */
export type Answer = Readonly<Record<string, unknown>>

/** The lines of a program that has succeeded, as JSON; throws what it said when it has not. */
export function answersOf({ exitCode, stdout, stderr }: Ended): Answer[] {
  if (exitCode !== 0)
    throw new Error(`exit code ${exitCode}\n${`${stdout}\n${stderr}`.slice(-2000)}`)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer)
}

/** How many records of a stream came over the Airbyte protocol; without a stream, of all. */
export function countRecords(answers: readonly Answer[], stream?: string): number {
  return answers.filter(({ type, record }) => {
    const wanted = stream === undefined || (record as { stream?: string })?.stream === stream
    return type === 'RECORD' && wanted
  }).length
}

/** The state file for the next run: the last STATE of each stream. */
export function lastStates(answers: readonly Answer[]): unknown[] {
  const states = new Map<string, unknown>()
  for (const { type, state } of answers) {
    if (type !== 'STATE') continue
    const { stream } = state as { stream: { stream_descriptor: { name: string } } }
    states.set(stream.stream_descriptor.name, state)
  }
  return [...states.values()]
}

/** A configured catalog that reads these streams incrementally. */
export function catalogOf(streams: readonly string[]): object {
  return {
    streams: streams.map((name) => ({
      stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh', 'incremental'] },
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
    })),
  }
}

/** Throws both when they differ as JSON. */
export function expectSame(actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${given} instead of ${wanted}`)
}
