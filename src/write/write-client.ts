import { ClientError } from '../client/client-error.ts'
import type {
  JobCategories,
  JobCategoryBody,
  References,
  WorkLocations,
} from '../client/service-client.ts'
import { statusIs } from '../http/status.ts'
import { ObjectRefusal } from './outcome.ts'

/** The methods of the client that the writer uses. */
export interface WriteClient {
  readonly references: References
  readonly jobCategories: Pick<JobCategories, 'get' | 'put'>
  readonly workLocations: WorkLocations
}

/** After this many refused records in a row, all records of the object count as refused. */
const MOST_WITHOUT_ACCESS = 3

/**
 * A client for the records of one object. It ends the object if nothing of it can be written: after three 403
 * in a row without any successful write. A single 403 only concerns its record. In a dry run its writes do nothing and
 * succeed, and it reads job categories as if they had been written.
 */
export function createObjectClient(client: WriteClient, isDryRun: boolean): WriteClient {
  const { references, jobCategories, workLocations } = client
  const bodies = new Map<string, JobCategoryBody>()
  let created = 0
  let refusals = 0
  let hasWritten = false
  return {
    references: {
      list: (...names) => references.list(...names),
      get: (...names) => read(references.get(...names)),
      find: (...names) => read(references.find(...names)),
      put: (...link) => write(() => references.put(...link), undefined),
      remove: (...names) => write(() => references.remove(...names), 'deleted'),
    },
    jobCategories: {
      async get(key) {
        const found = await read(jobCategories.get(key))
        if (found === undefined) return undefined
        const { id } = found.record
        const body = bodies.get(id)
        return body === undefined ? found : { record: { id, ...body } }
      },
      put(key, body, ...more) {
        if (isDryRun && 'id' in key) bodies.set(key.id, body)
        return write(() => jobCategories.put(key, body, ...more), undefined)
      },
    },
    workLocations: {
      list: () => workLocations.list(),
      // In a dry run, an id that no record has.
      create: (body) => write(() => workLocations.create(body), { id: `new-${++created}` }),
    },
  }

  async function write<T>(request: () => Promise<T>, pretended: T): Promise<T> {
    const answer = isDryRun ? pretended : await read(request())
    hasWritten = true
    return answer
  }

  async function read<T>(request: Promise<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      const isRefusal = error instanceof ClientError && statusIs(error.status, 'no access')
      if (!isRefusal || hasWritten || ++refusals < MOST_WITHOUT_ACCESS) throw error
      throw new ObjectRefusal(
        'config',
        error.id,
        `${error.message} ${MOST_WITHOUT_ACCESS} records in a row were refused in this way and none was accepted, so no more records of this kind are written. Ask the operator of the service for access.`,
        { cause: error },
      )
    }
  }
}
