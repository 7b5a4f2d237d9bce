import { withConnector } from '../connector.ts'
import { inTurn, type Judged, measure, rateLine, startServer } from '../measure.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const ROUNDS = 3
const LEAST_PERCENT = 50

const SETTINGS = {
  untouched: { personal_data: 'complete' },
  'one field left out': {
    personal_data: 'complete',
    field_rules: [{ stream: 'clockings', path: 'kind', rule: 'drop' }],
  },
  minimal: { personal_data: 'minimal' },
  pseudonymised: { personal_data: 'pseudonymised', privacy_key: 'the-key-of-the-benchmark' },
}

/**
 * A million clockings whose personal data is treated, beside the same ones as they came. Judged by
 * processor time, which other programs on the machine change less.
 */
export async function* privacy(): AsyncGenerator<Judged> {
  const server = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const { origin } = server
  const read = (settings: object) =>
    withConnector({ origin, streams: ['clockings'], settings }, (program) => measure(program))
  try {
    const of = await inTurn(ROUNDS, {
      untouched: () => read(SETTINGS.untouched),
      'one field left out': () => read(SETTINGS['one field left out']),
      minimal: () => read(SETTINGS.minimal),
      pseudonymised: () => read(SETTINGS.pseudonymised),
    })
    for (const name of Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]) {
      const percent = (of('untouched', 'cpuSeconds') / of(name, 'cpuSeconds')) * 100
      const rate = rateLine(name, PAGES * PAGE_SIZE, of)
      const line = `${rate}, ${percent.toFixed(0)} % of the speed per CPU (at least ${LEAST_PERCENT})`
      yield { line, isMet: percent >= LEAST_PERCENT }
    }
  } finally {
    await server.stop()
  }
}
