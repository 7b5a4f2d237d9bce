import { isJsonObject, type JsonObject } from '../ground/json.ts'
import { folded } from '../ground/text.ts'
import { referencesParameter } from '../http/endpoints.ts'
import { ClientError } from './client-error.ts'
import { idFault, nameFault, valueFault } from './references.ts'
import {
  member,
  type Operation,
  parseListPage,
  parseOne,
  type Requests,
  readTranslatedText,
  textOf,
} from './requests.ts'
import type { JobCategories, JobCategory, RecordKey } from './service-client.ts'

type ByReference = Exclude<RecordKey, { readonly id: string }>

const COLLECTION = 'job-categories'
const READ = `${COLLECTION}.read`
const WRITE = `${COLLECTION}.write`

/** The job categories of the service. */
export function createJobCategories({ send, get, pages }: Requests): JobCategories {
  return {
    list: (options) =>
      pages({ method: 'GET', path: [COLLECTION], scope: READ, ...options }, (text) => {
        const { items, nextLink } = parseListPage(text)
        return { items: items.map(readJobCategory), nextLink }
      }),

    async get(key, options) {
      return get(
        { ...address(key), method: 'GET', scope: READ, ...options },
        ({ text, header }) => {
          const etag = header('etag')
          const answer = parseOne(text)
          const record = readJobCategory(answer)
          if (!('id' in key)) checkNamed(key, record, answer)
          return etag === undefined ? { record } : { record, etag }
        },
      )
    },

    async put(key, body, etag, options) {
      await send({ ...address(key), method: 'PUT', scope: WRITE, body, ifMatch: etag, ...options })
    },
  }
}

/**
 * A service may read a value that is a whole number as an id, which belongs to another record. So the answer
 * must show the value that was requested. If it shows no value, the id must not be what some parser makes of
 * the value.
 */
function checkNamed({ name, value }: ByReference, { id }: JobCategory, answer: JsonObject): void {
  const references = member(answer, 'externalReferences')
  const shown = isJsonObject(references) ? textOf(member(references, name)) : undefined
  const isTakenForId = integerIn(value) === integerIn(id)
  if (shown === undefined ? !isTakenForId : isSame(shown, value)) return
  throw new ClientError(
    'config',
    'value-taken-for-id',
    shown === undefined || isTakenForId
      ? `The service took a value of the reference ${name} for the id of a job category. Name the job category by its id.`
      : `The service answered with a job category that has another value of the reference ${name}. Name the job category by its id.`,
  )
}

/** Values that a service may treat as equal are equal: it may ignore case. */
function isSame(a: string, b: string): boolean {
  return folded(a).toLowerCase() === folded(b).toLowerCase()
}

/** The whole number that some parser reads from a text, without its zeros; otherwise the text. */
function integerIn(text: string): string {
  const digits = /^\s*\+?0*(\d+)(?:[.,]0*)?\s*$/.exec(text.normalize('NFKC'))?.[1]
  return digits ?? text
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
