import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/**
 * Reads a JSON file of the package by its name in `imports` of package.json (`#spec`, `#schemas/people`),
 * so that sources and compiled files find it alike.
 */
export function readProjectJson(name: `#${string}`): unknown {
  return JSON.parse(readFileSync(require.resolve(name), 'utf8'))
}

/** The version of the package, the only place where it stands. */
export function packageVersion(): string {
  return (readProjectJson('#package') as { version: string }).version
}

/** What the package is, in one sentence. */
export function packageDescription(): string {
  return (readProjectJson('#package') as { description: string }).description
}
