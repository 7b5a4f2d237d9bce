import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const LOCK = 'package-lock.json'
const BUILD_INFO = 'dist/tests/.tsbuildinfo'
/** The files of a new PostgreSQL server, see pglite.ts. */
const NEW_SERVER = 'dist/tests/postgresql.tar'

/** Compiles the project before any test, because the tests run the real executables, and the tests themselves. */
export async function setup(project) {
  build()
  if (!isMade([NEW_SERVER], [LOCK])) await makeServer()
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

/** Each server would spend seconds of CPU on the same files. */
async function makeServer() {
  const { PGlite } = await import('@electric-sql/pglite')
  const server = await PGlite.create()
  const files = await server.dumpDataDir('none')
  writeFileSync(NEW_SERVER, new Uint8Array(await files.arrayBuffer()))
  await server.close()
}

/** The compiler of AssemblyScript takes longer than all else, and its sources seldom change. */
function isWasmNew() {
  const sources = ['src/page/wasm', 'src/warehouse/wasm'].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  )
  return !isMade(['dist/scan.wasm', 'dist/rows.wasm'], [...sources, LOCK])
}

/** Whether there are files, and none of what they are made of has changed since. */
function isMade(files, sources) {
  if (!files.every((file) => existsSync(file))) return false
  const madeAt = Math.min(...files.map((file) => statSync(file).mtimeMs))
  return sources.every((file) => statSync(file).mtimeMs <= madeAt)
}
