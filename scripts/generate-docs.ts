import { readFileSync, writeFileSync } from 'node:fs'
import { destinationSpec } from '../src/destination/destination-connector.ts'
import { readProjectJson } from '../src/ground/project-files.ts'
import { notice } from './bill-of-materials.ts'
import { writeDbtFiles } from './dbt-package.ts'
import { DOCUMENTS, withTables } from './generated-tables.ts'
import { INSTALL_GUIDE, MANIFESTS, withVersion } from './guide-blocks.ts'
import {
  hubDefinition,
  hubFile,
  type ListedSpecification,
  type MetadataFacts,
  withFacts,
  withSettings,
} from './listings.ts'
import { releasesOf } from './release.ts'
import { RECORD_TYPES, recordTypes } from './schema-documents.ts'

const spec = readProjectJson('#spec') as ListedSpecification & MetadataFacts['spec']
const { name, version, license } = readProjectJson('#package') as {
  name: string
  version: string
  license: string
}

/** `npm run docs`: rewrites the generated parts of the documents and of the dbt package, NOTICE, and the types of records, in the present folder. */
for (const file of DOCUMENTS) rewrite(file, withTables)
for (const [plugin, pluginSpec] of [
  ['tap-protime', spec],
  ['target-protime', destinationSpec()],
] as const) {
  rewrite('meltano.yml', (text) => withSettings(text, plugin, pluginSpec))
  rewrite(hubFile(plugin), () => hubDefinition(plugin, pluginSpec, name))
}
const released = releasesOf(readFileSync('CHANGELOG.md', 'utf8'))[0]?.date ?? ''
for (const [file, ofIt] of [
  ['metadata.yaml', spec],
  [
    'metadata-destination.yaml',
    destinationSpec() as ReturnType<typeof destinationSpec> & MetadataFacts['spec'],
  ],
] as const)
  rewrite(file, (text) => withFacts(text, { version, license, released, spec: ofIt }))
for (const file of [INSTALL_GUIDE, ...MANIFESTS])
  rewrite(file, (text) => withVersion(text, version))
writeFileSync('NOTICE', notice())
writeFileSync(RECORD_TYPES, recordTypes())
writeDbtFiles()

function rewrite(file: string, make: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const made = make(text)
  if (made !== text) writeFileSync(file, made)
}
