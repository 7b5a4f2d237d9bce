import { describe, expect, it } from 'vitest'
import { sqlType } from './columns.ts'

describe('sqlType', () => {
  it.each([
    [{ type: 'integer' }, 'BIGINT'],
    [{ type: ['number', 'null'] }, 'DOUBLE'],
    [{ type: ['boolean', 'null'] }, 'BOOLEAN'],
    [{ type: ['string', 'null'] }, 'VARCHAR'],
    [{ type: ['string', 'null'], format: 'date' }, 'DATE'],
    [{ type: ['number', 'string', 'null'] }, 'VARCHAR'],
    [{ type: ['object', 'null'] }, 'JSON'],
    [{ type: ['array', 'object', 'null'] }, 'JSON'],
    [{}, 'JSON'],
  ])('stores %j as %s', (schema, type) => {
    expect(sqlType(schema)).toBe(type)
  })
})
