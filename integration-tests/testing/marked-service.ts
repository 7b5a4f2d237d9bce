import { reply, startHttpService } from '../../src/http/testing/http-service.ts'
import { type PrivacyClass, privacyClassOf } from '../../src/privacy/privacy-settings.ts'
import type { JsonSchema } from '../../src/records/stream-spec.ts'
import { readStreamSchema, streams } from '../../src/streams/streams.ts'

/** What the service sends of people and no schema knows. */
const UNKNOWN = { shoeSize: 44, kin: { IBAN: 'BE71-unknown', name: 'x' } }
export const BIRTH_DATE = '1971-05-17'

/** A value that occurs nowhere else, with what its field tells of a person. */
export interface Mark {
  readonly stream: string
  readonly path: string
  readonly text: string
  readonly privacyClass: PrivacyClass
  /** What its value means: a hash is of that meaning. */
  readonly meaning: string
}

const marks: Mark[] = []
/** A record of each collection, with a mark in each field that takes a text or a number. */
const records = new Map([...streams].map(([name, { collection }]) => [collection, marked(name)]))

function marked(stream: string): object {
  const schema = readStreamSchema(stream)
  const [example] = schema['examples'] as object[]
  const { dateField, softDelete } = streams.get(stream) ?? {}
  const plain = ['id', 'changeVersion', 'collection', dateField, softDelete?.field]
  return { ...example, ...members(schema, '', plain) }

  function members(node: JsonSchema, at: string, left: readonly unknown[] = []): object {
    const fields = Object.entries(node.properties ?? {}).filter(([name]) => !left.includes(name))
    return Object.fromEntries(fields.map(([name, field]) => [name, fill(field, `${at}${name}`)]))
  }

  function fill(field: JsonSchema, path: string): unknown {
    const types = [field['type']].flat()
    if (field.items !== undefined) return [fill(field.items, path)]
    if (types.includes('object') && field.properties === undefined)
      return { any: text(field, path) }
    if (types.includes('object')) return members(field, `${path}.`)
    if (types.includes('boolean') || (field['format'] === 'date' && path !== 'birthDate'))
      return null
    if (path === 'birthDate') return mark(field, path, BIRTH_DATE)
    return types.includes('string') ? text(field, path) : Number(mark(field, path, unused()))
  }

  function text(field: JsonSchema, path: string): string {
    return mark(field, path, `marked-${unused()}`)
  }

  function mark(field: JsonSchema, path: string, said: string): string {
    const word = (field['x-meaning'] ?? JSON.stringify([stream, ...path.split('.')])) as string
    const isMap = [field['type']].flat().includes('object')
    const meaning = isMap ? `${word} any` : word.replace('{collection} {name}', 'people hr')
    marks.push({ stream, path, text: said, privacyClass: privacyClassOf(field), meaning })
    return said
  }
}

function unused(): string {
  return String(77_000_000 + marks.length)
}

/** What the service says of a request that it refuses. */
const WORDS = 'Jan Peeters, born on 1980-01-01, has no department'

export interface MarkedOptions {
  /** A collection that the service refuses. */
  refused?: string | undefined
  /** A collection that has no records any more. */
  gone?: string | undefined
}

/** A service that answers with its one record of a collection to lists and deltas; options may change at any time. */
export function startMarkedService(options: MarkedOptions = {}) {
  return startHttpService(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://service')
    const last = pathname.split('/').at(-1) ?? ''
    if (last === options.refused) {
      reply(response, 400, { error: { code: 'BadRequest', message: WORDS } })
      return
    }
    if (last === 'token') {
      reply(response, 200, { access_token: 'token', expires_in: 1800, token_type: 'Bearer' })
      return
    }
    const isReferences = pathname.includes('/external-references/')
    const record = isReferences
      ? { referenceName: 'hr', externalReference: referenceValue, internalReference: '7' }
      : { ...records.get(last), ...(last === 'people' && UNKNOWN) }
    const isDelta = searchParams.has('delta') || searchParams.has('deltaToken')
    reply(response, 200, {
      value: last === options.gone || (isReferences && last !== 'people') ? [] : [record],
      ...(isDelta && { deltaLink: `${pathname}?deltaToken=x1` }),
    })
  })
}

/** A stream whose key is left out is not offered. */
export function isOffered(stream: string, mode: string): boolean {
  return mode !== 'minimal' || stream !== 'external_references'
}

const ofReferences = marks.filter(({ stream }) => stream === 'external_references')
const referenceValue = ofReferences.find(({ path }) => path === 'value')?.text
/** The marks that the service sends: the name and the id of a reference are others. */
export const expected = marks.filter(
  (mark) => !ofReferences.includes(mark) || mark.path === 'value',
)
