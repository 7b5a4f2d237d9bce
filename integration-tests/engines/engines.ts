import type { Engine } from './engine.ts'
import { fast } from './fast.ts'
import { protocolModels } from './protocol-models.ts'
import { pyairbyte } from './pyairbyte.ts'

/** Everybody who has to accept the connector. */
export const engines: readonly Engine[] = [protocolModels, fast, pyairbyte]
