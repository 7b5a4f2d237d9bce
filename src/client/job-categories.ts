import { referencesParameter } from '../http/request-url.ts'
import type { JsonObject } from '../protocol/json.ts'
import { ClientError } from './client-error.ts'
import { member, parseListPage, parseOne, textOf } from './list-page.ts'
import { idFault, nameFault, valueFault } from './reference-rules.ts'
import type { Operation, Requests } from './requests.ts'
import type { JobCategories, JobCategory, RecordKey } from './service-client.ts'
import { readTranslatedText } from './translated-text.ts'

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
        const record = readJobCategory(parseOne(text))
        return etag === undefined ? { record } : { record, etag }
      })
    },

    async put(key, body, etag) {
      await send({ ...address(key), method: 'PUT', scope: WRITE, body, ifMatch: etag })
    },
  }
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
