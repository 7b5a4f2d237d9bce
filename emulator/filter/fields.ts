import type { Fields, StoredRecord } from '../store/store.ts'
import type { Literal } from './parse.ts'

/** One filter field: its category, the type of its literals, and its value in a record. */
export interface FilterField {
  readonly category: 'single' | 'multiple' | 'range'
  readonly type: 'integer' | 'string' | 'boolean' | 'date'
  read(record: StoredRecord): unknown
}

/** The filter fields of all collections, by name. Their categories are not documented. */
export const filterFields: Readonly<Record<string, FilterField>> = {
  date: { category: 'range', type: 'date', read: (record) => record.date },
  person: { category: 'multiple', type: 'integer', read: (record) => record.person },
  kind: { category: 'multiple', type: 'string', read: (record) => fieldsOf(record)['kind'] },
  status: { category: 'multiple', type: 'string', read: (record) => fieldsOf(record)['status'] },
  'collection-name': {
    category: 'multiple',
    type: 'string',
    read: (record) => fieldsOf(record)['collectionName'],
  },
  'counter-definition': {
    category: 'multiple',
    type: 'integer',
    read: (record) => idOf(record, 'counterDefinition'),
  },
  'counter-group': {
    category: 'multiple',
    type: 'integer',
    read: (record) => idOf(record, 'counterGroup'),
  },
  enabled: { category: 'single', type: 'boolean', read: (record) => fieldsOf(record)['isEnabled'] },
}

/** Whether a literal has the type that the field wants; a date is checked further elsewhere. */
export function fits({ type }: FilterField, value: Literal): boolean {
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === (type === 'boolean' ? 'boolean' : 'string')
}

function fieldsOf(record: StoredRecord): Fields {
  return JSON.parse(record.text)
}

function idOf(record: StoredRecord, property: string): unknown {
  return (fieldsOf(record)[property] as Fields | undefined)?.['id']
}
