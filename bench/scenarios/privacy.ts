import { withConnector } from '../connector.ts'
import { inTurn, measure, rateLine, startServer } from '../measure.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const ROUNDS = 3

const SETTINGS = {
  untouched: { personal_data: 'complete' },
  'one field left out': {
    personal_data: 'complete',
    field_rules: [{ stream: 'clockings', path: 'kind', rule: 'drop' }],
  },
  minimal: { personal_data: 'minimal' },
  pseudonymised: { personal_data: 'pseudonymised', privacy_key: 'the-key-of-the-benchmark' },
}

/** A million clockings whose personal data is treated, beside the same ones as they came. */
export async function* privacy(): AsyncGenerator<string> {
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
      const part = (of('untouched', 'seconds') / of(name, 'seconds')) * 100
      yield `${rateLine(name, PAGES * PAGE_SIZE, of)}, ${part.toFixed(0)} % of the speed (at least 50)`
    }
  } finally {
    await server.stop()
  }
}
