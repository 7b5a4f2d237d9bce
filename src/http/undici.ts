import { createRequire } from 'node:module'
import type { Agent, buildConnector } from 'undici'

// undici's index loads everything it has, fetch, caches, mocks and WebSocket too, which takes longer than
// all else that a check loads. It exports no parts by name, so they are taken from their files.

const require = createRequire(import.meta.url)

/** What `undici` exports as `name`, from its file below `lib`, or from the index where it has moved. */
function part(file: string, name: 'Agent' | 'buildConnector'): unknown {
  try {
    return require(`undici/lib/${file}`)
  } catch (error) {
    if (!MOVED.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    return loadAll()[name]
  }
}

const MOVED: ReadonlySet<string> = new Set(['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'])

export const loadAgent = () => part('dispatcher/agent.js', 'Agent') as typeof Agent
export const loadConnector = () =>
  part('core/connect.js', 'buildConnector') as typeof buildConnector
/** What a proxy needs works only once the index has put undici's parts together. */
export const loadAll = () => require('undici') as typeof import('undici')
