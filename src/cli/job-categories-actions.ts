import { idFault } from '../client/references.ts'
import type { RecordKey } from '../client/service-client.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { isDryRun, notFound, sayAll, sayDry, sayFound, withClient } from './with-client.ts'
import { writeOne } from './write-action.ts'

/** The fields of a job category to change, and the reference that identifies it. */
export interface JobCategoryOptions {
  readonly reference?: string
  readonly name?: string
  /** By language; an empty text removes one. */
  readonly translation?: Readonly<Record<string, string>>
  readonly externalCode?: string
}

const READ = ['job-categories.read']

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
  return sayFound(tools, 'job category', found?.record)
}

/** Changes the given fields, keeps the others, and prints the resulting job category. */
export async function put(
  tools: ActionTools,
  ref: string,
  options: JobCategoryOptions,
): Promise<ExitCode> {
  const key = keyOf(ref, options.reference)
  const { reference, name, translation: translations, externalCode } = options
  if (name === undefined && translations === undefined && externalCode === undefined) {
    throw new UsageError(
      'there is nothing to change: give --name, --translation or --external-code',
    )
  }
  const named = 'id' in key ? key : { externalReferences: { [key.name]: key.value } }
  const data = { ...named, name: { default: name, translations }, externalCode }
  const settings = { missingFields: 'keep', jobCategoryReference: reference } as const
  const outcome = await writeOne(tools, { object: 'job_categories', data }, settings)
  if (outcome.status === 404) return notFound(tools, 'job category')
  return isDryRun(tools) ? sayDry(tools, { ...data, ...outcome }) : get(tools, ref, reference)
}

/** The key of a job category on the command line: an id, or a text together with --reference. */
function keyOf(ref: string, reference: string | undefined): RecordKey {
  if (reference !== undefined) return { name: reference, value: ref }
  if (idFault('job-categories', ref) === undefined) return { id: ref }
  throw new UsageError(
    'the job category is not given by an id: if it is the value of a reference, name that reference with --reference',
  )
}
