import { duckDb } from './duckdb/engine.ts'
import type { Engine } from './landing.ts'
import { postgres } from './postgres/engine.ts'

/** The engines, in the order in which they are asked for an address. Only this file knows their folders. */
const ENGINES: readonly Engine[] = [postgres, duckDb]

/** The engine of a landing with this address. */
export function engineOf(address: string): Engine {
  return ENGINES.find((engine) => engine.accepts(address)) as Engine
}
