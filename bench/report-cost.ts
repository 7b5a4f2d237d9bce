import { writeFileSync } from 'node:fs'

/**
 * Loaded into a measured process by `--import`. When the process ends, writes the resources that it has used according to
 * the operating system, and the time since its start, to the file BENCH_COST.
 */
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const cost = {
    seconds: performance.now() / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMegabytes: maxRSS / 1024,
  }
  writeFileSync(process.env['BENCH_COST'] ?? '', JSON.stringify(cost))
})
