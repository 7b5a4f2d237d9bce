import type { Connector, Failure, ReadJob, ReadTools } from '../connector.ts'
import { unknownStream } from '../errors.ts'
import { schemaUnder, selectionRules } from '../field-selection.ts'
import { recordSchema, type SelectedStream } from './catalog.ts'
import type { StateValue } from './messages.ts'
import type { SingerTools } from './singer-program.ts'
import type { StateWriter } from './state.ts'
import { createSingerOutput } from './stream-output.ts'
import { withoutTwins } from './without-twins.ts'

/** What is to be read. */
export interface Selection {
  /** Every stream that the source has, with all of its fields, if left out. */
  readonly selection: readonly SelectedStream[] | undefined
  readonly stored: StateValue
  readonly states: StateWriter
}

/** Reads the selected streams; those that are unknown are among the failures that come back. */
export async function sync<Config>(
  connector: Connector<Config>,
  input: unknown,
  { selection, stored, states }: Selection,
  tools: SingerTools & Pick<ReadTools, 'observer'>,
): Promise<readonly Failure[]> {
  const source = await connector.load()
  const config = source.configure(input, tools.log)
  const offered = new Map(source.streams(config).map((spec) => [spec.name, spec]))
  const chosen = selection ?? [...offered.keys()].map(whole)
  const activatesVersions = source.activatesVersions?.(config) ?? true
  const refused: Failure[] = []
  const jobs: ReadJob[] = []
  for (const { name, isSelected } of chosen) {
    const spec = offered.get(name)
    if (spec === undefined) {
      refused.push({
        stream: name,
        error: unknownStream(name, offered.keys(), source.unknownStreamHint),
      })
      continue
    }
    const output: ReadJob['output'] = (now = () => new Date()) => {
      const schema = recordSchema(spec)
      const rules = selectionRules(schema, isSelected)
      return createSingerOutput({
        stream: name,
        key: spec.key,
        version: spec.version,
        schema: withoutTwins(schemaUnder(schema, rules)),
        rules,
        activatesVersions,
        states,
        ...tools,
        now,
      })
    }
    jobs.push({ name, mode: 'incremental', state: stored.bookmarks[name], output })
  }
  const failed = jobs.length === 0 ? [] : await source.read(config, jobs, { ...tools, refused })
  return [...refused, ...failed]
}

/** The selection of a stream without a catalog: all of it. */
function whole(name: string): SelectedStream {
  return { name, isSelected: () => true }
}
