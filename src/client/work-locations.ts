import type { JsonObject } from '../ground/json.ts'
import { parseEnvelope } from '../page/envelope.ts'
import { createdId, member, type Requests, readTranslatedText, textOf } from './requests.ts'
import type { WorkLocation, WorkLocations } from './service-client.ts'

const COLLECTION = 'work-locations'

/** The work locations of the service, which can only be listed and created. */
export function createWorkLocations({ send, pages }: Requests): WorkLocations {
  return {
    list: (options) =>
      pages(
        { method: 'GET', path: [COLLECTION], scope: `${COLLECTION}.read`, ...options },
        (text) => {
          const { items, nextLink } = parseEnvelope(text)
          return { items: items.map(readWorkLocation), nextLink }
        },
      ),

    async create(body, options) {
      const path = [COLLECTION]
      const scope = `${COLLECTION}.write`
      const answer = await send({ method: 'POST', path, scope, body, ...options })
      return { id: createdId(answer, COLLECTION) }
    },
  }
}

function readWorkLocation(record: JsonObject): WorkLocation {
  const id = textOf(member(record, 'id'))
  if (id === undefined) throw new SyntaxError('a work location has no id')
  const name = member(record, 'name') ?? undefined
  if (name === undefined) throw new SyntaxError('a work location has no name')
  const description = textOf(member(record, 'description'))
  const changeVersion = textOf(member(record, 'changeVersion'))
  return {
    id,
    name: readTranslatedText(name),
    ...(description !== undefined && { description }),
    ...(changeVersion !== undefined && { changeVersion }),
  }
}
