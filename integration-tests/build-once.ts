import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Compiles the project once before any test, because the tests run the real executables. */
export function setup() {
  const scripts = isWasmNew() ? ['build'] : ['build:ts', 'build:validators']
  for (const script of scripts) {
    execFileSync('npm', ['run', '--silent', script], { stdio: 'inherit' })
  }
}

/** The compiler of AssemblyScript takes longer than all else, and its sources seldom change. */
function isWasmNew(): boolean {
  const compiled = ['dist/scan.wasm', 'dist/rows.wasm']
  if (!compiled.every((file) => existsSync(file))) return true
  const builtAt = Math.min(...compiled.map((file) => statSync(file).mtimeMs))
  const sources = ['src/page/wasm', 'src/warehouse/wasm'].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  )
  return [...sources, 'package-lock.json'].some((file) => statSync(file).mtimeMs > builtAt)
}
