import { ClientError } from '../client/client-error.ts'
import type {
  JobCategories,
  JobCategoryBody,
  References,
  ServiceClient,
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

/**
 * A client that reads like the given one, and whose writes do nothing and succeed; it reads job categories as
 * if they had been written.
 */
export function withoutWrites({
  references,
  jobCategories,
  workLocations,
}: Pick<ServiceClient, keyof WriteClient> | WriteClient): WriteClient {
  let created = 0
  const bodies = new Map<string, JobCategoryBody>()
  return {
    references: {
      list: (...names) => references.list(...names),
      get: (...names) => references.get(...names),
      find: (...names) => references.find(...names),
      put: async () => {},
      remove: async () => 'deleted',
    },
    jobCategories: {
      async get(key) {
        const found = await jobCategories.get(key)
        if (found === undefined) return undefined
        const { id } = found.record
        const body = bodies.get(id)
        return body === undefined ? found : { record: { id, ...body } }
      },
      put: async (key, body) => {
        if ('id' in key) bodies.set(key.id, body)
      },
    },
    workLocations: {
      list: () => workLocations.list(),
      // An id that no record has.
      create: async () => ({ id: `new-${++created}` }),
    },
  }
}

/** After this many refused records in a row, all records of the object count as refused. */
const MOST_WITHOUT_ACCESS = 3

/**
 * A client for the records of one object. It ends the object if nothing of it can be written: after three 403
 * in a row without any successful write. A single 403 only concerns its record.
 */
export function endedByRefusals(client: WriteClient): WriteClient {
  const { references, jobCategories, workLocations } = client
  let refusals = 0
  let hasWritten = false
  return {
    references: {
      list: (...names) => references.list(...names),
      get: (...names) => read(references.get(...names)),
      find: (...names) => read(references.find(...names)),
      put: (...link) => write(references.put(...link)),
      remove: (...names) => write(references.remove(...names)),
    },
    jobCategories: {
      get: (key) => read(jobCategories.get(key)),
      put: (...change) => write(jobCategories.put(...change)),
    },
    workLocations: {
      list: () => workLocations.list(),
      create: (body) => write(workLocations.create(body)),
    },
  }

  async function write<T>(request: Promise<T>): Promise<T> {
    const answer = await read(request)
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
