import type { JsonSchema } from '../records/stream-spec.ts'

/** An object that can be written; also the name of the stream that reads it. */
export type ObjectName = 'external_references' | 'job_categories' | 'work_locations'

/** The properties of one object. */
export interface WriteObject {
  /** One sentence for people who choose objects. */
  readonly description: string
  /** Alternative sets of members that identify its records. */
  readonly keys: readonly (readonly string[])[]
  /** JSON schemas of the accepted members; for others see `WriterOptions.onUnknownMember`. */
  readonly properties: Readonly<Record<string, JsonSchema>>
  /** Required members. */
  readonly required: readonly string[]
  /** Middle and last part of the scopes that writing it needs, such as `job-categories.write`. */
  readonly scopes: readonly string[]
  /** Whether its records can be deleted. */
  readonly isDeletable: boolean
  /** The write requests for a record, after reads have shown that they are needed. */
  readonly requests: string
  /** The limits of the service, as text. */
  readonly limits: readonly string[]
}

const name: JsonSchema = {
  type: ['object', 'string'],
  description: 'The name; a text is the default name.',
  additionalProperties: true,
  properties: {
    default: {
      type: 'string',
      description: 'Name for users whose language has no translation.',
    },
    translations: {
      type: ['object', 'null'],
      description: 'Name by language code (nl) or culture code (nl-BE).',
      additionalProperties: { type: ['string', 'null'] },
    },
  },
}

const externalReferences: JsonSchema = {
  type: ['object', 'null'],
  description: 'Custom references by name; without an id, one of them is the key.',
  additionalProperties: { type: ['string', 'integer', 'null'] },
}

/** All objects, in the order in which a batch is written. */
export const objects: Readonly<Record<ObjectName, WriteObject>> = {
  external_references: {
    description:
      'Custom external references: your own values that identify records of the service.',
    keys: [['collection', 'name', 'value']],
    properties: {
      collection: {
        type: 'string',
        description: 'Collection in the service, such as people or job-categories.',
      },
      name: {
        type: 'string',
        description: 'Name of the reference, which must not begin with @.',
      },
      value: { type: ['string', 'integer'], description: 'Value of the reference.' },
      internalReference: {
        type: ['string', 'integer', 'null'],
        description: 'Id of the record in the service; not needed to delete a reference.',
      },
    },
    required: ['collection', 'name', 'value'],
    scopes: ['external-references.write', 'external-references.read'],
    isDeletable: true,
    requests: 'PUT; DELETE',
    limits: [
      'names do not begin with `@`',
      'ids are whole numbers, those of activity-definitions are GUIDs',
      'one value per record and name, one record per value and name',
      'URLs of at most 4096 characters',
    ],
  },
  job_categories: {
    description: 'Names and codes of existing job categories.',
    keys: [['id'], ['externalReferences']],
    properties: {
      id: { type: ['integer', 'string', 'null'], description: 'Id of the job category.' },
      externalReferences,
      name,
      externalCode: {
        type: ['string', 'null'],
        description: 'Code of the category in other systems.',
        maxLength: 50,
      },
    },
    required: [],
    scopes: ['job-categories.write', 'job-categories.read'],
    isDeletable: false,
    requests: 'PUT of the whole record',
    limits: ['`externalCode` has at most 50 characters', 'cannot be created or deleted'],
  },
  work_locations: {
    description: 'Work locations, each of which is created once.',
    keys: [['externalReferences'], ['id']],
    properties: {
      id: {
        type: ['integer', 'string', 'null'],
        description: 'Id of an existing work location.',
      },
      externalReferences,
      name,
      description: { type: ['string', 'null'], description: 'Free text about the place.' },
    },
    required: ['name'],
    scopes: [
      'work-locations.write',
      'work-locations.read',
      'external-references.write',
      'external-references.read',
    ],
    isDeletable: false,
    requests: 'POST, then PUT of its reference',
    limits: ['cannot be changed or deleted'],
  },
}

/** The scopes needed to write these objects, without duplicates. */
export function scopesOf(names: readonly ObjectName[]): readonly string[] {
  return [...new Set(names.flatMap((name) => objects[name].scopes))]
}

/** A record that is to be written, or deleted. */
export interface WriteRecord {
  readonly object: ObjectName
  readonly data: Readonly<Record<string, unknown>>
  readonly isDelete: boolean
  /** Its place in the input; comes back in its outcome. */
  readonly ordinal: number
  /** Why the data could not be read: the record is rejected with this sentence. */
  readonly fault?: string
}
