import { largePage } from './scenarios/large-page.ts'
import { latency } from './scenarios/latency.ts'
import { rateLimit } from './scenarios/rate-limit.ts'
import { singer } from './scenarios/singer.ts'
import { slowReader } from './scenarios/slow-reader.ts'
import { throughput } from './scenarios/throughput.ts'

/**
 * `npm run bench` runs every scenario, `npm run bench -- throughput latency` some. All traffic is on
 * loopback. Figures are this machine's; what counts are the ratios within one run.
 */
const scenarios = {
  throughput,
  singer,
  'large-page': largePage,
  'slow-reader': slowReader,
  latency,
  'rate-limit': rateLimit,
}

const chosen = process.argv.slice(2)
for (const [name, scenario] of Object.entries(scenarios)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  process.stdout.write(`\n${name}\n`)
  for await (const line of scenario()) process.stdout.write(`  ${line}\n`)
}
