import type {
  JobCategories,
  References,
  ServiceClient,
  WorkLocations,
} from '../client/service-client.ts'

/** What the writer asks of the client of the service. */
export interface WriteClient {
  readonly references: References
  readonly jobCategories: Pick<JobCategories, 'get' | 'put'>
  readonly workLocations: WorkLocations
}

/** A client that reads as the given one does, and whose writes do nothing and succeed. */
export function withoutWrites({
  references,
  jobCategories,
  workLocations,
}: Pick<ServiceClient, keyof WriteClient> | WriteClient): WriteClient {
  let created = 0
  return {
    references: {
      list: (...names) => references.list(...names),
      get: (...names) => references.get(...names),
      put: async () => {},
      remove: async () => 'deleted',
    },
    jobCategories: { get: (key) => jobCategories.get(key), put: async () => {} },
    workLocations: {
      list: () => workLocations.list(),
      // An id that no record has.
      create: async () => ({ id: `new-${++created}` }),
    },
  }
}
