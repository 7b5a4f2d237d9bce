import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from './demo/paths.ts'
import { digestOf, integrityOf, unverifiedPackages, withDigests, withIntegrities } from './pins.ts'

/**
 * `npm run pin`: writes down what a release would otherwise take from a registry on trust, the integrity of
 * each package and the digest of each base image. What is written down already stays.
 */
async function main(): Promise<void> {
  const lock = await rewrite('package-lock.json', (text) => withIntegrities(text, integrityOf))
  await rewrite('Dockerfile', (text) => withDigests(text, digestOf))
  const left = unverifiedPackages(lock)
  if (left.length > 0)
    throw new Error(`npm's registry does not know ${left.map(({ id }) => id).join(', ')}.`)
}

async function rewrite(name: string, make: (text: string) => Promise<string>): Promise<string> {
  const file = join(packageFolder, name)
  const made = await make(readFileSync(file, 'utf8'))
  writeFileSync(file, made)
  return made
}

main().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
