import { readProjectJson } from '../src/project-files.ts'
import { lockedPackage, type ProductionPackage, productionPackages } from './production-packages.ts'

/** The runtime and library of AssemblyScript are compiled into `dist/scan.wasm`; no folder shows them. */
export const compiledIn = (): ProductionPackage => lockedPackage('node_modules/assemblyscript')

/**
 * What image and wheel are made of, as a CycloneDX 1.6 document. It has neither a serial number nor a
 * time, so that the same tree has the same document.
 */
export function billOfMaterials(): string {
  const { name, version, description, license } = readProjectJson('#package') as Facts
  const self = purl(name, version)
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': self,
        name,
        version,
        description,
        licenses: [{ license: { id: license } }],
        purl: self,
      },
    },
    components: [...productionPackages(), compiledIn()].map(component),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

interface Facts {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
}

function component({ name, version, license, integrity }: ProductionPackage): object {
  const [, digest = ''] = /^sha512-(.+)$/.exec(integrity) ?? []
  return {
    type: 'library',
    'bom-ref': purl(name, version),
    name,
    version,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    licenses: [{ license: { id: license } }],
    purl: purl(name, version),
  }
}

function purl(name: string, version: string): string {
  return `pkg:npm/${encodeURIComponent(name).replace('%2F', '/')}@${version}`
}
