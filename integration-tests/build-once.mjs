import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const BUILD_INFO = 'dist/tests/.tsbuildinfo'

/** Compiles the project before any test, because the tests run the real executables, and the tests themselves. */
export function setup(project) {
  build()
  project.onTestsRerun(build)
}

function build() {
  const scripts = isWasmNew() ? ['build'] : ['build:ts', 'build:validators']
  for (const script of scripts) {
    execFileSync('npm', ['run', '--silent', script], { stdio: 'inherit' })
  }
  const emit = ['--noEmit', 'false', '--noCheck', '--rewriteRelativeImportExtensions', 'false']
  const into = ['--outDir', 'dist/tests', '--incremental', '--tsBuildInfoFile', BUILD_INFO]
  // Stacks show the lines of the .ts files, which are in another folder.
  const sources = ['--inlineSourceMap', '--sourceRoot', `${pathToFileURL('.')}/`]
  execFileSync('node_modules/.bin/tsc', [...emit, ...into, ...sources], { stdio: 'inherit' })
}

/** The compiler of AssemblyScript takes longer than all else, and its sources seldom change. */
function isWasmNew() {
  const compiled = ['dist/scan.wasm', 'dist/rows.wasm']
  if (!compiled.every((file) => existsSync(file))) return true
  const builtAt = Math.min(...compiled.map((file) => statSync(file).mtimeMs))
  const sources = ['src/page/wasm', 'src/warehouse/wasm'].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  )
  return [...sources, 'package-lock.json'].some((file) => statSync(file).mtimeMs > builtAt)
}
