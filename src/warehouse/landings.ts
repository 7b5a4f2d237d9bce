import { duckDb } from './duckdb/engine.ts'
import type { Engine } from './landing.ts'

/** The engines, in the order in which they are asked for an address. Only this file knows their folders. */
const ENGINES: readonly Engine[] = [duckDb]

/** The engine of a landing with this address. */
export function engineOf(address: string): Engine {
  return ENGINES.find((engine) => engine.accepts(address)) as Engine
}
