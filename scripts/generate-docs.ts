import { readFileSync, writeFileSync } from 'node:fs'
import { readProjectJson } from '../src/project-files.ts'
import { coverageDocument } from './coverage.ts'
import { readCoverage } from './coverage-sources.ts'
import { DOCUMENTS, withTables } from './generated-tables.ts'
import { type Specification, withSettings } from './meltano-settings.ts'

/** `npm run docs`: rewrites the generated documents, and generated parts of others, in the present folder. */
for (const file of DOCUMENTS) rewrite(file, withTables)
const { sections, shown } = readCoverage()
rewrite('docs/coverage.md', () => coverageDocument(sections, shown))
rewrite('meltano.yml', (text) => withSettings(text, readProjectJson('#spec') as Specification))

function rewrite(file: string, make: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const made = make(text)
  if (made !== text) writeFileSync(file, made)
}
