import { isJsonObject, type JsonObject } from '../ground/json.ts'
import { referencesParameter } from '../http/endpoints.ts'
import { ClientError } from './client-error.ts'
import { idFault, nameFault, valueFault } from './references.ts'
import type { Operation, Requests } from './requests.ts'
import { member, parseListPage, parseOne, readTranslatedText, textOf } from './responses.ts'
import type { JobCategories, JobCategory, RecordKey } from './service-client.ts'

type ByReference = Exclude<RecordKey, { readonly id: string }>

const COLLECTION = 'job-categories'
const READ = `${COLLECTION}.read`
const WRITE = `${COLLECTION}.write`

/** Job categories over the service. */
export function createJobCategories({ send, get, pages }: Requests): JobCategories {
  return {
    list: () =>
      pages({ method: 'GET', path: [COLLECTION], scope: READ }, (text) => {
        const { items, nextLink } = parseListPage(text)
        return { items: items.map(readJobCategory), nextLink }
      }),

    async get(key) {
      return get({ ...address(key), method: 'GET', scope: READ }, ({ text, header }) => {
        const etag = header('etag')
        const answer = parseOne(text)
        const record = readJobCategory(answer)
        if (!('id' in key)) checkNamed(key, record, answer)
        return etag === undefined ? { record } : { record, etag }
      })
    },

    async put(key, body, etag) {
      await send({ ...address(key), method: 'PUT', scope: WRITE, body, ifMatch: etag })
    },
  }
}

/**
 * A value that is a whole number could be read as an id, and the record with that id is another one, unless it
 * has the value: the service shows the reference that was asked for.
 */
function checkNamed({ name, value }: ByReference, { id }: JobCategory, answer: JsonObject): void {
  const references = member(answer, 'externalReferences')
  const shown = isJsonObject(references) ? textOf(member(references, name)) : undefined
  if (id !== value || shown === value) return
  throw new ClientError(
    'config',
    `The service took a value of the reference ${name} for the id of a job category. Name the job category by its id.`,
  )
}

/** An id stands in the path alone; a value does with the name of its reference in the query. */
function address(key: RecordKey): Pick<Operation, 'path' | 'value' | 'query'> {
  if ('id' in key) {
    const fault = idFault(COLLECTION, key.id)
    if (fault !== undefined) throw new ClientError('config', fault)
    return { path: [COLLECTION, key.id] }
  }
  const { name, value } = key
  const fault = nameFault(name) ?? valueFault(value)
  if (fault !== undefined) throw new ClientError('config', fault)
  const query = referencesParameter([[COLLECTION, name]])
  return { path: [COLLECTION, value], value, query }
}

function readJobCategory(record: JsonObject): JobCategory {
  const id = textOf(member(record, 'id'))
  if (id === undefined) throw new SyntaxError('a job category has no id')
  const externalCode = textOf(member(record, 'externalCode'))
  const changeVersion = textOf(member(record, 'changeVersion'))
  return {
    id,
    name: readTranslatedText(member(record, 'name')),
    ...(externalCode !== undefined && { externalCode }),
    ...(changeVersion !== undefined && { changeVersion }),
  }
}
