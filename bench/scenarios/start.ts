import { join } from 'node:path'
import { PROJECT, withConnector } from '../connector.ts'
import { inTurn, type Judged, measure, peakLine, startServer } from '../measure.ts'

const ROUNDS = 7
const LIMIT_SECONDS = 1
/** Twenty more when V8 optimises the parser of HTTP after all. */
const LIMIT_MEGABYTES = 85

/** What a platform or a person waits for before anything is read. */
export async function* start(): AsyncGenerator<Judged> {
  const server = await startServer({ pages: 1, pageSize: 1 })
  const { origin } = server
  const run = (program: string, word: string) => () =>
    measure([join(PROJECT, 'bin', program), word])
  const sync = (command: 'check' | 'read') => () =>
    withConnector({ origin, streams: ['clockings'], command }, (program) => measure(program))
  try {
    const of = await inTurn(ROUNDS, {
      'source-protime spec': run('source-protime', 'spec'),
      'tap-protime --discover': run('tap-protime', '--discover'),
      'source-protime check': sync('check'),
      'source-protime read of one record': sync('read'),
    })
    for (const command of [
      'source-protime spec',
      'tap-protime --discover',
      'source-protime check',
      'source-protime read of one record',
    ] as const) {
      const seconds = of(command, 'seconds')
      const cpu = of(command, 'cpuSeconds').toFixed(2)
      const line = `${command} in ${seconds.toFixed(2)} s, ${cpu} CPU s (under ${LIMIT_SECONDS} s)`
      yield { line, isMet: seconds < LIMIT_SECONDS }
    }
    const peak = of('source-protime read of one record', 'peakMegabytes')
    yield peakLine('source-protime read of one record', peak, LIMIT_MEGABYTES)
  } finally {
    await server.stop()
  }
}
