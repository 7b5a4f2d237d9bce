import type { JsonSchema } from '../records/stream-spec.ts'

/** The types of columns. JSON accepts every value unchanged. */
export type ColumnType =
  | 'BIGINT'
  | 'DOUBLE'
  | 'BOOLEAN'
  | 'DATE'
  | 'TIMESTAMP_NS'
  | 'VARCHAR'
  | 'JSON'

/** A column of a stream's table. */
export interface Column {
  /** The member of the records. */
  readonly property: string
  /** Its name in SQL, which ignores the case of names. */
  readonly name: string
  readonly type: ColumnType
  /** The name of the column whose unfitting values this one has. */
  readonly variantOf?: string | undefined
}

/** The connector's own columns in each table. */
export const KNOWN_FROM = '_known_from'
/** and of each closed version: the moment from which it no longer held. */
export const KNOWN_UNTIL = '_known_until'
/** The connector's own columns until rows are in a table. */
export const HELPER = {
  op: '_protime_op',
  row: '_protime_row',
  isGone: '_protime_is_gone',
  isThere: '_protime_is_there',
  comes: '_protime_comes',
  closes: '_protime_closes',
  key: '_protime_key_',
  other: '_protime_other_',
} as const
/** Names that no member gets. */
export const OWN = [KNOWN_FROM, KNOWN_UNTIL, ...Object.values(HELPER)]

/** The type that can store every value of a schema; mixtures, objects and lists are JSON. */
export function columnType({ type = [], format }: JsonSchema): ColumnType {
  const [first, ...others] = [type].flat().filter((one) => one !== 'null')
  if (others.length > 0) return 'JSON'
  if (first === 'integer') return 'BIGINT'
  if (first === 'number') return 'DOUBLE'
  if (first === 'boolean') return 'BOOLEAN'
  if (first !== 'string') return 'JSON'
  if (format === 'date') return 'DATE'
  return format === 'date-time' ? 'TIMESTAMP_NS' : 'VARCHAR'
}

/** Whether the values of a type are strings in JSON. */
export function isText(type: ColumnType): boolean {
  return type === 'VARCHAR' || type === 'DATE' || type === 'TIMESTAMP_NS'
}
