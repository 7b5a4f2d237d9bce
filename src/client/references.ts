import { parseReference, parseReferencePage } from '../page/reference-page.ts'
import { ClientError } from './client-error.ts'
import { idFault, nameFault, valueFault } from './reference-rules.ts'
import type { Operation, Requests } from './requests.ts'
import type { References } from './service-client.ts'

const COLLECTION = 'external-references'
const READ = `${COLLECTION}.read`
const WRITE = `${COLLECTION}.write`

/** Custom references over the service; what can be none is refused before it is sent. */
export function createReferences({ send, get, pages, remove }: Requests): References {
  return {
    async *list(collection, name) {
      refuse(collectionFault(collection) ?? (name === undefined ? undefined : nameFault(name)))
      const path = [COLLECTION, collection, ...(name === undefined ? [] : [name])]
      // A name without references may be unknown to the service.
      const missing = name === undefined ? {} : ({ mayBeMissing: true } as const)
      yield* pages({ method: 'GET', path, scope: READ, ...missing }, (text) => {
        const { references, nextLink } = parseReferencePage(text, collection, name)
        return { items: references, nextLink }
      })
    },

    async get(collection, name, value) {
      const operation = { ...address(collection, name, value), method: 'GET', scope: READ } as const
      return get(operation, ({ text }) => parseReference(text, { collection, name, value }))
    },

    async put({ collection, name, value, internalReference }) {
      const where = address(collection, name, value)
      refuse(idFault(collection, internalReference))
      await send({ ...where, method: 'PUT', scope: WRITE, body: { internalReference } })
    },

    async remove(collection, name, value) {
      return remove({ ...address(collection, name, value), method: 'DELETE', scope: WRITE })
    },
  }
}

function address(
  collection: string,
  name: string,
  value: string,
): Pick<Operation, 'path' | 'value'> {
  refuse(collectionFault(collection) ?? nameFault(name) ?? valueFault(value))
  return { path: [COLLECTION, collection, name, value], value }
}

function collectionFault(collection: string): string | undefined {
  return collection === '' ? 'The name of the collection is empty.' : undefined
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new ClientError('config', fault)
}
