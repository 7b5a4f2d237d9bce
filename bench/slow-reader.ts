/** Reads stdin at so many bytes a second, as a slow destination does, for ever or for some seconds. */
const bytesPerSecond = Number(process.argv[2] ?? 1_000_000)
const slowForMs = Number(process.argv[3] ?? Number.POSITIVE_INFINITY) * 1000
const startedAt = performance.now()
let bytes = 0
for await (const chunk of process.stdin) {
  bytes += (chunk as Buffer).length
  const due = startedAt + (bytes / bytesPerSecond) * 1000
  const early = due - performance.now()
  const isSlow = performance.now() - startedAt < slowForMs
  if (early > 0 && isSlow) await new Promise((resolve) => setTimeout(resolve, early))
}
