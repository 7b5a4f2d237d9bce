import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

const require = createRequire(import.meta.url)
const files = new Map<string, unknown>()

/**
 * Reads a JSON file of the package by its name in `imports` of package.json (`#spec`, `#schemas/people`),
 * so that sources and compiled files find it alike. It is read once, and nobody may change it.
 */
export function readProjectJson(name: `#${string}`): unknown {
  const known = files.get(name)
  if (known !== undefined) return known
  const content: unknown = JSON.parse(readFileSync(require.resolve(name), 'utf8'))
  files.set(name, content)
  return content
}

/** The folder of the package, in a clone or where it is installed. */
export function packageFolder(): string {
  return dirname(require.resolve('#package'))
}

/** The version of the package, the only place where it stands. */
export function packageVersion(): string {
  return (readProjectJson('#package') as { version: string }).version
}

/** What the package is, in one sentence. */
export function packageDescription(): string {
  return (readProjectJson('#package') as { description: string }).description
}
