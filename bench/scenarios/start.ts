import { join } from 'node:path'
import { PROJECT } from '../connector.ts'
import { inTurn, type Judged, measure } from '../measure.ts'

const ROUNDS = 5
const LIMIT_SECONDS = 1

/** What a platform or a person waits for before anything is read. */
export async function* start(): AsyncGenerator<Judged> {
  const run = (program: string, word: string) => () =>
    measure([join(PROJECT, 'bin', program), word])
  const of = await inTurn(ROUNDS, {
    'source-protime spec': run('source-protime', 'spec'),
    'tap-protime --discover': run('tap-protime', '--discover'),
  })
  for (const command of ['source-protime spec', 'tap-protime --discover'] as const) {
    const seconds = of(command, 'seconds')
    const line = `${command} in ${seconds.toFixed(2)} s (under ${LIMIT_SECONDS})`
    yield { line, isMet: seconds < LIMIT_SECONDS }
  }
}
