import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { changelog, DOCUMENTS, prerequisites, withTables } from './generate-docs.ts'
import { RECORD_TYPES, recordTypes } from './schema-documents.ts'

describe('the documents', () => {
  it.each(DOCUMENTS)('%s has the generated tables (npm run docs)', (file) => {
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('<!-- generated: ')
    expect(withTables(text)).toBe(text)
  })

  it('name each stream and each setting once a table', () => {
    const made = withTables('<!-- generated: streams -->\n<!-- end -->')
    expect(made.match(/\| `people` \|/g)).toHaveLength(1)
    expect(withTables('<!-- generated: configuration -->\n<!-- end -->')).toContain(
      '`client_secret` | required',
    )
  })

  it('have the types of records beside them that the schemas give', () => {
    expect(readFileSync(RECORD_TYPES, 'utf8')).toBe(recordTypes())
  })

  it('do not have parts that nothing generates', () => {
    expect(() => withTables('<!-- generated: nothing -->\n<!-- end -->')).toThrow('nothing')
  })
})

/** The headings that Airbyte's checks require, in this order. There may be others between them. */
const HEADINGS = [
  '# Protime',
  '## Prerequisites',
  '## Setup guide',
  '## Set up Protime',
  '### For Airbyte Cloud:',
  '### For Airbyte Open Source:',
  '## Set up the Protime connector in Airbyte',
  '### For Airbyte Cloud:',
  '### For Airbyte Open Source:',
  '## Supported sync modes',
  '## Supported Streams',
  '## IP allow list',
  '### Performance considerations',
  '## Data type map',
  '## Limitations & Troubleshooting',
  '## Changelog',
]

describe('the page for Airbyte', () => {
  const page = readFileSync('docs/airbyte.md', 'utf8')

  it("has the headings of Airbyte's pages, in their order", () => {
    const asked = new Set(HEADINGS)
    const found = page.split('\n').filter((line) => asked.has(line))
    expect(found).toEqual(HEADINGS)
  })

  it('has no braces outside of code, which the site takes for a program', () => {
    const text = page.replace(/`[^`\n]*`/g, '')
    expect(text.match(/(?<!\\)[{}]/g)).toBeNull()
  })
})

describe('the parts of the page for Airbyte', () => {
  it('name the required fields by their titles', () => {
    const titles = [...prerequisites().matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, title]) => title)
    expect(titles).toEqual(['Tenant', 'Environment', 'Client ID', 'Client Secret'])
  })

  it('name each version with its day and its release', () => {
    expect(changelog()).toContain('| 0.1.0 | 2026-11-21 | [v0.1.0](')
  })
})
