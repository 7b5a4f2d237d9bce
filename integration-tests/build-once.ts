import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Compiles the project once before any test, because the tests run the real executables. */
export function setup() {
  const scripts = isScannerNew() ? ['build'] : ['build:ts', 'build:validators']
  for (const script of scripts) {
    execFileSync('npm', ['run', '--silent', script], { stdio: 'inherit' })
  }
}

/** The compiler of the scanner takes longer than all else, and its sources seldom change. */
function isScannerNew(): boolean {
  const compiled = 'dist/scan.wasm'
  if (!existsSync(compiled)) return true
  const builtAt = statSync(compiled).mtimeMs
  const sources = readdirSync('src/page/wasm').map((name) => join('src/page/wasm', name))
  return [...sources, 'package-lock.json'].some((file) => statSync(file).mtimeMs > builtAt)
}
