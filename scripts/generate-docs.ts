import { readFileSync, writeFileSync } from 'node:fs'
import { DOCUMENTS, withTables } from './generated-tables.ts'

/** `npm run docs`: rewrites the generated parts of the documents in the present folder. */
for (const file of DOCUMENTS) {
  const text = readFileSync(file, 'utf8')
  const made = withTables(text)
  if (made !== text) writeFileSync(file, made)
}
