import { writeFileSync } from 'node:fs'

/**
 * Loaded into a measured process by `--import`: at its end it writes what the operating system
 * accounts to the process, and the time since its start, to the file that BENCH_COST names.
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
