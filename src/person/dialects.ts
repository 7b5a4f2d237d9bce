/** The databases for which statements can be printed. */
export const PERSON_DIALECTS = ['duckdb', 'postgres'] as const

export type PersonDialect = (typeof PERSON_DIALECTS)[number]
