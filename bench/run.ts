import type { Judged } from './measure.ts'
import { firstSync, manyStreams } from './scenarios/first-sync.ts'
import { largePage, memory, slowReader } from './scenarios/memory.ts'
import { peers } from './scenarios/peers.ts'
import { postgres } from './scenarios/postgres.ts'
import { latency, rateLimit } from './scenarios/slow-service.ts'
import { start } from './scenarios/start.ts'
import { compressed, privacy, singer, throughput } from './scenarios/throughput.ts'
import { warehouse } from './scenarios/warehouse.ts'
import { webhooks } from './scenarios/webhooks.ts'
import { write } from './scenarios/write.ts'

/**
 * `npm run bench` runs all scenarios, `npm run bench -- throughput latency` only these. All traffic is on loopback. The
 * figures depend on the machine; compare the ratios within one run. The exit code is 1 if a goal for memory or for the
 * starting time is missed.
 */
const scenarios: Readonly<Record<string, () => AsyncIterable<string | Judged>>> = {
  throughput,
  compressed,
  peers,
  singer,
  warehouse,
  postgres,
  start,
  privacy,
  'large-page': largePage,
  memory,
  'slow-reader': slowReader,
  latency,
  'rate-limit': rateLimit,
  webhooks,
  write,
  'first-sync': firstSync,
  'many-streams': manyStreams,
}

const chosen = process.argv.slice(2)
for (const [name, scenario] of Object.entries(scenarios)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  process.stdout.write(`\n${name}\n`)
  for await (const said of scenario()) {
    const { line, isMet } = typeof said === 'string' ? { line: said, isMet: true } : said
    process.stdout.write(`  ${isMet ? '' : 'MISSED '}${line}\n`)
    if (!isMet) process.exitCode = 1
  }
}
