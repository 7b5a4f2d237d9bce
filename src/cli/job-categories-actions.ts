import { idFault } from '../client/references.ts'
import type { RecordKey } from '../client/service-client.ts'
import { changeJobCategory, keptInWords } from '../write/apply-job-categories.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { isDryRun, sayAll, sayDry, withClient } from './with-client.ts'

/** The fields of a job category to change, and the reference that identifies it. */
export interface JobCategoryOptions {
  readonly reference?: string
  readonly name?: string
  /** By language; an empty text removes one. */
  readonly translation?: Readonly<Record<string, string>>
  readonly externalCode?: string
}

const READ = ['job-categories.read']
const WRITE = ['job-categories.read', 'job-categories.write']

/** Prints all job categories. */
export async function list(tools: ActionTools): Promise<ExitCode> {
  await withClient(tools, READ, ({ jobCategories }) => sayAll(tools, jobCategories.list()))
  return EXIT.done
}

/** Prints one job category; exit code 4 if there is none. */
export async function get(
  tools: ActionTools,
  ref: string,
  reference: string | undefined,
): Promise<ExitCode> {
  const key = keyOf(ref, reference)
  const found = await withClient(tools, READ, ({ jobCategories }) => jobCategories.get(key))
  if (found === undefined) return notFound(tools)
  await tools.say(found.record)
  return EXIT.done
}

/** Changes the given fields, keeps the others, and prints the resulting job category. */
export async function put(
  tools: ActionTools,
  ref: string,
  options: JobCategoryOptions,
): Promise<ExitCode> {
  const key = keyOf(ref, options.reference)
  const { name, translation, externalCode } = options
  if (name === undefined && translation === undefined && externalCode === undefined) {
    throw new UsageError(
      'there is nothing to change: give --name, --translation or --external-code',
    )
  }
  const wanted = { key, defaultName: name, translations: translation, text: externalCode }
  const isDry = isDryRun(tools)
  const change = await withClient(tools, isDry ? READ : WRITE, ({ jobCategories }) =>
    changeJobCategory(jobCategories, wanted, 'keep'),
  )
  switch (change.outcome) {
    case 'absent':
      return notFound(tools)
    case 'nameless':
      throw new UsageError('a job category needs a name: give one with --name')
    case 'kept':
      tools.log.warn(keptInWords(change.kept))
      return EXIT.failed
    default: {
      const { body, id, outcome } = change
      if (isDry) return sayDry(tools, { ...body, id, outcome })
      await tools.say({ ...body, id })
      return EXIT.done
    }
  }
}

/** The key of a job category on the command line: an id, or a text together with --reference. */
function keyOf(ref: string, reference: string | undefined): RecordKey {
  if (reference !== undefined) return { name: reference, value: ref }
  if (idFault('job-categories', ref) === undefined) return { id: ref }
  throw new UsageError(
    'the job category is not given by an id: if it is the value of a reference, name that reference with --reference',
  )
}

function notFound({ log }: ActionTools): ExitCode {
  log.warn('There is no such job category.')
  return EXIT.notFound
}
