import { join } from 'node:path'
import { expectSame } from '../../answers.ts'
import type { Tools } from '../engine.ts'
import { startPostgreSql } from '../meltano/postgresql.ts'
import { layOut, startReceiverRecipe } from './receiver-recipe.ts'
import { recipe } from './recipe.ts'

/** The recipe of docs/webhooks.md for PostgreSQL. */
export async function tryPostgreSqlRecipe({ folder, step }: Tools, packed: string): Promise<void> {
  const server = await startPostgreSql(folder)
  const home = join(folder, 'events')
  await layOut(home, 'postgresql', packed)
  await server.query(recipe('sql', 'postgresql'))
  const receiver = await startReceiverRecipe(home, {
    PGHOST: '127.0.0.1',
    PGPORT: String(server.port),
    PGUSER: server.user,
    PGPASSWORD: server.password,
    PGDATABASE: 'postgres',
  })
  const select = async (columns: string, from: string) =>
    (await server.query(`select ${columns} from ${from} order by received_at`)).trim().split('\n')
  try {
    await receiver.answering()
    const [newer, older] = ['00B', '00A'].map(
      (version) => `{"changeVersion":"${version}","id":9007199254740993,"hours":7.10,"name":"Zoë"}`,
    ) as [string, string]
    await step('PostgreSQL has each event once, as it was sent, and knows the newest', async () => {
      for (const body of [newer, older, newer]) expectSame(await receiver.deliver(body), 200)
      expectSame(await select('body', 'protime_events'), [newer, older])
      expectSame(await select('body', 'protime_newest'), [newer])
      const columns = "concat_ws(' ', collection, id, change_version, deleted)"
      expectSame((await select(columns, 'protime_newest'))[0], 'clockings 9007199254740993 00B')
    })
    await step('a deletion with the version of its record is an event of its own', async () => {
      const body = `{"changeType":"Delete","data":${newer}}`
      expectSame(await receiver.deliver(body), 200)
      expectSame(await select('body', 'protime_newest'), [body])
    })
    await step('what PostgreSQL cannot store is answered 503 and may come again', async () => {
      const body = '{"changeVersion":"00C","id":1}'
      await server.query('alter table protime_events rename to elsewhere')
      expectSame(await receiver.deliver(body), 503)
      await server.query('alter table elsewhere rename to protime_events')
      expectSame(await receiver.deliver(body), 200)
      expectSame((await select('body', 'protime_events')).at(-1), body)
    })
  } finally {
    await receiver.stop()
    await server.stop()
  }
}
