import { ClientError } from '../client/client-error.ts'
import { idFault } from '../client/reference-rules.ts'
import type { JobCategory, JobCategoryBody, RecordKey } from '../client/service-client.ts'
import type { ActionTools } from './action.ts'
import { EXIT, type ExitCode, UsageError } from './exit-code.ts'
import { sayAll, withClient } from './with-client.ts'

/** What of a job category is to change, and by which reference it is named. */
export interface JobCategoryOptions {
  readonly reference?: string
  readonly name?: string
  /** By language; an empty text removes one. */
  readonly translation?: Readonly<Record<string, string>>
  readonly externalCode?: string
}

const READ = ['job-categories.read']
const WRITE = ['job-categories.read', 'job-categories.write']

export async function list(tools: ActionTools): Promise<ExitCode> {
  await withClient(tools, READ, ({ jobCategories }) => sayAll(tools, jobCategories.list()))
  return EXIT.done
}

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

/** Reads and merges first: the service empties what a PUT leaves out. */
export async function put(
  tools: ActionTools,
  ref: string,
  options: JobCategoryOptions,
): Promise<ExitCode> {
  const key = keyOf(ref, options.reference)
  const { name, translation, externalCode } = options
  if (name === undefined && translation === undefined && externalCode === undefined) {
    throw new UsageError('nothing is to change: give --name, --translation or --external-code')
  }
  return withClient(tools, WRITE, async ({ jobCategories }) => {
    const change = async () => {
      const found = await jobCategories.get(key)
      if (found === undefined) return notFound(tools)
      const body = merged(found.record, options)
      await jobCategories.put(key, body, found.etag)
      await tools.say({ ...body, id: found.record.id })
      return EXIT.done
    }
    // Somebody else was faster: what they have changed is merged, too.
    return change().catch((error) => {
      const isStale = error instanceof ClientError && [409, 412].includes(error.status ?? 0)
      if (isStale) return change()
      throw error
    })
  })
}

function merged({ name, externalCode }: JobCategory, wanted: JobCategoryOptions): JobCategoryBody {
  const translations = Object.fromEntries(
    Object.entries({ ...name.translations, ...wanted.translation }).filter(
      ([, text]) => text !== '',
    ),
  )
  const code = wanted.externalCode ?? externalCode
  return {
    name: {
      default: wanted.name ?? name.default,
      ...(Object.keys(translations).length > 0 && { translations }),
    },
    ...(code !== undefined && { externalCode: code }),
  }
}

/** What names a job category on the command line: an id, or a text together with --reference. */
function keyOf(ref: string, reference: string | undefined): RecordKey {
  if (reference !== undefined) return { name: reference, value: ref }
  if (idFault('job-categories', ref) === undefined) return { id: ref }
  throw new UsageError('the job category is named by a text: say by --reference of which reference')
}

function notFound({ log }: ActionTools): ExitCode {
  log.warn('There is no such job category.')
  return EXIT.notFound
}
