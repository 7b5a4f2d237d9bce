import { ClientError } from '../client/client-error.ts'
import type { Reference } from '../client/service-client.ts'
import { statusIs } from '../http/status.ts'
import { referenceTreatment } from '../privacy/reference-treatment.ts'
import { type ActionTools, EXIT, type ExitCode } from './command.ts'
import {
  isDryRun,
  notFound,
  referencedCollection,
  sayAll,
  sayDry,
  sayFound,
  withClient,
  withoutWords,
} from './with-client.ts'
import { writeOne } from './write-action.ts'

type Address = Omit<Reference, 'internalReference'>

const READ = ['external-references.read']

/**
 * Prints all references of a collection, or those with one name, as `personal_data` treats them in their stream; exit
 * code 4 if there are none.
 */
export async function list(
  tools: ActionTools,
  given: string,
  name: string | undefined,
  { showValues }: { readonly showValues?: true },
): Promise<ExitCode> {
  const collection = referencedCollection(given)
  const treat = referenceTreatment(tools.config.privacy)
  let hidden = 0
  const shown = (reference: Omit<Reference, 'internalReference'>) => {
    if (showValues) return reference
    const left = treat({ ...reference, collection })
    if (left?.value !== reference.value) hidden++
    return left
  }
  try {
    await withClient(withoutWords(tools), READ, ({ references }) =>
      sayAll(tools, references.list(collection, name), shown),
    )
    if (hidden > 0)
      tools.log.info(
        `personal_data leaves out or hashes ${hidden} values; --show-values prints them.`,
      )
    return EXIT.done
  } catch (error) {
    if (error instanceof ClientError && statusIs(error.status, 'missing'))
      return notFound(tools, 'reference')
    throw error
  }
}

/** Prints one reference; exit code 4 if there is none. */
export async function get(
  tools: ActionTools,
  { name, value, ...given }: Address,
): Promise<ExitCode> {
  const collection = referencedCollection(given.collection)
  const reference = await withClient(withoutWords(tools), READ, ({ references }) =>
    references.get(collection, name, value),
  )
  return sayFound(tools, 'reference', reference)
}

/** Links a value to a record, unless another record has it, and prints the reference. */
export async function put(tools: ActionTools, given: Reference): Promise<ExitCode> {
  const data = { ...given, collection: referencedCollection(given.collection) }
  await writeOne(tools, { object: 'external_references', data }, { relink: false })
  if (isDryRun(tools)) return sayDry(tools, data)
  await tools.say(data)
  return EXIT.done
}

/** Deletes one reference; exit code 4 if there is none. */
export async function remove(tools: ActionTools, given: Address): Promise<ExitCode> {
  const data = { ...given, collection: referencedCollection(given.collection) }
  const record = { object: 'external_references', data, isDelete: true } as const
  const { outcome } = await writeOne(tools, record)
  if (outcome === 'absent') return notFound(tools, 'reference')
  if (isDryRun(tools)) return sayDry(tools, { ...data, outcome })
  tools.log.info('The reference is deleted.')
  return EXIT.done
}
