import type { JsonObject } from '../ground/json.ts'
import { parseEnvelope } from '../page/envelope.ts'
import { ClientError } from './client-error.ts'
import { addressByReference, checkNamed, idFault, nameFault, valueFault } from './references.ts'
import {
  member,
  type Operation,
  parseOne,
  type Requests,
  readTranslatedText,
  textOf,
} from './requests.ts'
import type { JobCategories, JobCategory, RecordKey } from './service-client.ts'

const COLLECTION = 'job-categories'
const READ = `${COLLECTION}.read`
const WRITE = `${COLLECTION}.write`

/** The job categories of the service. */
export function createJobCategories({ send, get, pages }: Requests): JobCategories {
  return {
    list: (options) =>
      pages({ method: 'GET', path: [COLLECTION], scope: READ, ...options }, (text) => {
        const { items, nextLink } = parseEnvelope(text)
        return { items: items.map(readJobCategory), nextLink }
      }),

    async get(key, options) {
      return get(
        { ...address(key), method: 'GET', scope: READ, ...options },
        ({ text, header }) => {
          const etag = header('etag')
          const answer = parseOne(text)
          const record = readJobCategory(answer)
          if (!('id' in key)) checkNamed(COLLECTION, key, record.id, answer)
          else if (record.id !== key.id) throw new SyntaxError('it is another job category')
          return etag === undefined ? { record } : { record, etag }
        },
      )
    },

    async put(key, body, etag, options) {
      await send({ ...address(key), method: 'PUT', scope: WRITE, body, ifMatch: etag, ...options })
    },
  }
}

/** An id needs only the path; a value also needs the name of its reference in the query. */
function address(key: RecordKey): Pick<Operation, 'path' | 'value' | 'query'> {
  if ('id' in key) {
    const fault = idFault(COLLECTION, key.id)
    if (fault !== undefined) throw new ClientError('config', 'name-not-valid', fault)
    return { path: [COLLECTION, key.id] }
  }
  const { name, value } = key
  const fault = nameFault(name) ?? valueFault(value)
  if (fault !== undefined) throw new ClientError('config', 'name-not-valid', fault)
  return addressByReference(COLLECTION, key)
}

/** The members that this version knows, in any case. References are not a field: a body with them changes none. */
const KNOWN = /^(?:id|name|externalCode|changeVersion|externalReferences)$/i

/** The API may get new fields, and a PUT without one would empty it. */
function readJobCategory(record: JsonObject): JobCategory {
  const others = Object.entries(record).filter(([name]) => !KNOWN.test(name))
  const id = textOf(member(record, 'id'))
  if (id === undefined) throw new SyntaxError('a job category has no id')
  const externalCode = textOf(member(record, 'externalCode'))
  const changeVersion = textOf(member(record, 'changeVersion'))
  return {
    ...Object.fromEntries(others),
    id,
    name: readTranslatedText(member(record, 'name')),
    ...(externalCode !== undefined && { externalCode }),
    ...(changeVersion !== undefined && { changeVersion }),
  }
}
