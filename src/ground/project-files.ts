import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

const require = createRequire(import.meta.url)
const files = new Map<string, unknown>()

/**
 * Reads a JSON file of the package by its name in `imports` of package.json (`#spec`, `#schemas/people`), so that
 * sources and compiled files find the same one. The content is cached; callers must not change it.
 */
export function readProjectJson(name: `#${string}`): unknown {
  const known = files.get(name)
  if (known !== undefined) return known
  const content: unknown = JSON.parse(readFileSync(require.resolve(name), 'utf8'))
  files.set(name, content)
  return content
}

/** The folder of the package, in a clone or an installation. */
export function packageFolder(): string {
  return dirname(require.resolve('#package'))
}

/** The version of the package, from package.json. */
export function packageVersion(): string {
  return (readProjectJson('#package') as { version: string }).version
}

/** The description of the package, in one sentence. */
export function packageDescription(): string {
  return (readProjectJson('#package') as { description: string }).description
}
