import { addDays, daysBetween, isDate } from '../clock.ts'
import {
  collections,
  type SchemaCollection,
  schemaCollections,
} from '../collections/collections.ts'
import type { Fields } from '../store/store.ts'
import { dated } from './dated.ts'
import { personal } from './people.ts'
import { type Context, link, type Make } from './random.ts'
import { referenceData } from './reference-data.ts'

/**
 * Makes a record like one of the examples of a schema: about the context's person and day, and
 * linked to what the store holds.
 */
function likeExamples({ facts, relations, examples }: SchemaCollection): Make {
  return (context) => {
    const { id: _id, changeVersion: _version, ...fields } = context.random.pick(examples)
    const date = facts.dateField && fields[facts.dateField]
    const days = typeof date === 'string' ? daysBetween(date, context.date) - 1 : 0
    return copyOf(fields, { context, relations, days }) as Fields
  }
}

/** Makers of the records of which only the schema is known. */
const fromSchema: Readonly<Record<string, Make>> = Object.fromEntries(
  Object.entries(schemaCollections).map(([name, collection]) => [name, likeExamples(collection)]),
)

interface Copy {
  readonly context: Context
  readonly relations: SchemaCollection['relations']
  /** By how much dates move. */
  readonly days: number
}

function copyOf(value: unknown, copy: Copy): unknown {
  if (Array.isArray(value)) return value.map((item) => copyOf(item, copy))
  if (typeof value === 'string') return isDate(value) ? addDays(value, copy.days) : value
  if (typeof value !== 'object' || value === null) return value
  const properties = Object.entries(value).filter(([name]) => name !== 'externalReferences')
  return Object.fromEntries(
    properties.map(([name, inner]) => [name, propertyOf(name, inner, copy)]),
  )
}

function propertyOf(name: string, value: unknown, copy: Copy): unknown {
  const copied = copyOf(value, copy)
  const target = copy.relations[name]
  if (target === undefined || value === null) return copied
  const linked = (object: unknown) => ({ ...Object(object), ...linkTo(name, target, copy.context) })
  return Array.isArray(copied) ? copied.map(linked) : linked(copied)
}

function linkTo(property: string, target: string, context: Context): Fields {
  return property === 'person' ? { id: context.person } : link(context, target)
}

const makers = { ...fromSchema, ...referenceData, ...personal, ...dated }

/** A plausible record of any collection, related to what the store holds. */
export function makeRecord(collection: string, context: Context): Fields {
  const make = makers[collection]
  if (!make) throw new Error(`The emulator makes no records of ${collection}`)
  const fields = make(context)
  return collections[collection]?.hasGuids ? { id: context.random.guid(), ...fields } : fields
}
