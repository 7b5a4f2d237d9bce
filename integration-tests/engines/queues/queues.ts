import type { Engine } from '../engine.ts'
import { packNpm } from '../guide-shell.ts'
import { tryPostgreSqlRecipe } from './postgresql-recipe.ts'
import { tryRedisRecipe } from './redis-recipe.ts'

/** The recipes of docs/webhooks.md: events in a queue of one's own, by the package that is packed here. */
export const queues: Engine = {
  name: 'queues',
  requirements: [],
  async run(tools) {
    const packed = await packNpm(tools.projectFolder, tools.folder)
    await tryPostgreSqlRecipe(tools, packed)
    await tryRedisRecipe(tools, packed)
  },
}
