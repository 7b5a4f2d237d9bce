import { readFileSync, writeFileSync } from 'node:fs'
import { readProjectJson } from '../src/project-files.ts'
import { DOCUMENTS, withTables } from './generated-tables.ts'
import { type Specification, withSettings } from './meltano-settings.ts'
import { notice } from './notice.ts'

/** `npm run docs`: rewrites the generated parts of the documents, and NOTICE, in the present folder. */
for (const file of DOCUMENTS) rewrite(file, withTables)
rewrite('meltano.yml', (text) => withSettings(text, readProjectJson('#spec') as Specification))
writeFileSync('NOTICE', notice())

function rewrite(file: string, make: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const made = make(text)
  if (made !== text) writeFileSync(file, made)
}
