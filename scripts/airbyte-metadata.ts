import { parseDocument } from 'yaml'

/** What the registry's file takes from other files. */
export interface MetadataFacts {
  readonly version: string
  readonly license: string
  readonly spec: {
    readonly protocol_version: string
    readonly documentationUrl: string
    readonly connectionSpecification: { readonly title: string }
  }
}

/** metadata.yaml with every fact that stands in package.json or spec.json as it is there now. */
export function withFacts(document: string, { version, license, spec }: MetadataFacts): string {
  const metadata = parseDocument(document)
  const facts = {
    name: spec.connectionSpecification.title,
    dockerImageTag: version,
    protocolVersion: spec.protocol_version,
    license,
    documentationUrl: spec.documentationUrl,
  }
  for (const [key, value] of Object.entries(facts)) {
    if (!metadata.hasIn(['data', key])) throw new Error(`metadata.yaml has lost data.${key}`)
    metadata.setIn(['data', key], value)
  }
  return metadata.toString({ lineWidth: 0 })
}
