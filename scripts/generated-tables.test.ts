import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS, withTables } from './generated-tables.ts'

describe('the documents', () => {
  it.each(DOCUMENTS)('%s has the tables that the code gives (npm run docs makes them)', (file) => {
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('<!-- generated: ')
    expect(withTables(text)).toBe(text)
  })

  it('name each stream and each setting once a table', () => {
    const made = withTables('<!-- generated: streams -->\n<!-- end -->')
    expect(made.match(/\| `people` \|/g)).toHaveLength(1)
    expect(withTables('<!-- generated: configuration -->\n<!-- end -->')).toContain(
      '`client_secret` | yes',
    )
  })

  it('do not have parts that nothing generates', () => {
    expect(() => withTables('<!-- generated: nothing -->\n<!-- end -->')).toThrow('nothing')
  })
})
