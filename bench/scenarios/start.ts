import { join } from 'node:path'
import { PROJECT, withConnector } from '../connector.ts'
import { inTurn, type Judged, type Medians, measure, peakLine, startServer } from '../measure.ts'

const ROUNDS = 7
/** If V8 optimised the HTTP parser, the peak would be 20 MB higher. */
const LIMIT_MEGABYTES = 85
/** The image has Node 24, which starts faster. */
const [major = 0] = process.versions.node.split('.').map(Number)
const LIMIT_SECONDS = major >= 22 ? 0.15 : 0.2

/** What a platform or a person starts, from the shortest to the longest. */
export const COMMANDS = [
  'source-protime spec',
  'tap-protime --discover',
  'source-protime check',
  'source-protime read of one record',
] as const

/** What each of the commands takes. */
export async function startCosts(): Promise<Medians<(typeof COMMANDS)[number]>> {
  const server = await startServer({ pages: 1, pageSize: 1 })
  const { origin } = server
  const run = (program: string, word: string) => () =>
    measure([join(PROJECT, 'bin', program), word])
  const sync = (command: 'check' | 'read') => () =>
    withConnector({ origin, streams: ['clockings'], command }, (program) => measure(program))
  try {
    return await inTurn(ROUNDS, {
      'source-protime spec': run('source-protime', 'spec'),
      'tap-protime --discover': run('tap-protime', '--discover'),
      'source-protime check': sync('check'),
      'source-protime read of one record': sync('read'),
    })
  } finally {
    await server.stop()
  }
}

/** What a platform or a person waits for before anything is read. */
export async function* start(): AsyncGenerator<Judged> {
  const of = await startCosts()
  for (const command of COMMANDS) {
    const seconds = of(command, 'seconds')
    const cpu = of(command, 'cpuSeconds').toFixed(2)
    const line = `${command} in ${seconds.toFixed(3)} s, ${cpu} CPU s (under ${LIMIT_SECONDS} s)`
    yield { line, isMet: seconds < LIMIT_SECONDS }
  }
  const peak = of('source-protime read of one record', 'peakMegabytes')
  yield peakLine('source-protime read of one record', peak, LIMIT_MEGABYTES)
}
