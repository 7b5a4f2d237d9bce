import type { Engine } from './engine.ts'
import { fast } from './fast.ts'
import { install } from './install.ts'
import { meltano } from './meltano/meltano.ts'
import { protocolModels } from './protocol-models.ts'
import { pyairbyte } from './pyairbyte.ts'
import { queues } from './queues/queues.ts'
import { singerTools } from './singer-tools.ts'

/** Everybody who has to accept the connector. */
export const engines: readonly Engine[] = [
  protocolModels,
  fast,
  pyairbyte,
  singerTools,
  meltano,
  install,
  queues,
]
