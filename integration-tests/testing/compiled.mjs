// Loads each .ts file of the project as build-once.mjs has compiled it, under its own name. Node runs the tests by this
// as it runs any program; Vite's module runner would cost an eighth of the time of `npm test`.
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// Node calls `load` in a thread of its own, where it reads this file once more.
if (isMainThread) register(import.meta.url)

const PROJECT = new URL('../../', import.meta.url).href
const COMPILED = new URL('dist/tests/', PROJECT).href

export async function load(url, context, next) {
  const [file] = url.split('?')
  if (!file.startsWith(PROJECT) || !file.endsWith('.ts')) return next(url, context)
  const compiled = new URL(file.slice(PROJECT.length).replace(/ts$/, 'js'), COMPILED)
  return { format: 'module', source: await readFile(compiled), shortCircuit: true }
}
