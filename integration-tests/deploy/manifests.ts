import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolder } from '../../scripts/demo/paths.ts'
import { pythonWith } from '../engines/environment.ts'
import { output } from '../engines/meltano/command.ts'

/** It carries the schemas of all versions of Kubernetes, and asks nobody. */
const REQUIREMENTS = ['kubernetes-validate==1.37.0']
/** The oldest version that has everything that the manifests use, and the newest. */
const VERSIONS = ['1.29', '1.37']

/** Checks the manifests of `deploy/kubernetes` by the schemas of Kubernetes; throws what is wrong. */
export async function validateManifests(
  folder: string,
  say: (line: string) => void,
): Promise<void> {
  const python = pythonWith('kubernetes', REQUIREMENTS)
  const manifests = join(packageFolder, 'deploy', 'kubernetes')
  const files = readdirSync(manifests).filter((name) => name.endsWith('.yaml'))
  for (const version of VERSIONS) {
    const program = join(dirname(python), 'kubernetes-validate')
    const args = [program, '--kubernetes-version', version, '--strict']
    await output({
      program: python,
      args: [...args, ...files.map((name) => join(manifests, name))],
      folder,
    })
    say(`ok    Kubernetes ${version} takes ${files.join(', ')}`)
  }
}
