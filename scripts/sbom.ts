import { billOfMaterials } from './bill-of-materials.ts'

/** `npm run --silent sbom`: what image and wheel are made of, as CycloneDX on stdout. */
process.stdout.write(billOfMaterials())
