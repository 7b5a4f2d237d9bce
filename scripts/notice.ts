import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compiledIn } from './bill-of-materials.ts'
import { packageFolder } from './demo/paths.ts'
import { productionPackages } from './production-packages.ts'

/** The file NOTICE: software of others in what is shipped, and the texts that have to go with it. */
export function notice(): string {
  const assemblyScript = compiledIn()
  const text = (name: string) =>
    readFileSync(join(packageFolder, assemblyScript.path, name), 'utf8').trim()
  const packages = productionPackages().map(
    ({ path, name, version, license }) => `* ${name} ${version}, ${license}, in ${path}`,
  )
  return `source-protime is under the MIT License, see LICENSE. It is shipped with software of others.

Image and wheel carry these packages, each with its own licence text; npm installs the same ones:

${packages.join('\n')}

dist/scan.wasm contains the runtime and parts of the library of AssemblyScript ${assemblyScript.version},
which is under the Apache License 2.0. Its notice and its licence follow.

${RULE}
${text('NOTICE')}

${RULE}
${text('LICENSE')}
`
}

const RULE = '-'.repeat(80)
