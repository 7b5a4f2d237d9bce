/** Reads stdin at so many bytes a second, as a slow destination does. */
const bytesPerSecond = Number(process.argv[2] ?? 1_000_000)
const startedAt = performance.now()
let bytes = 0
for await (const chunk of process.stdin) {
  bytes += (chunk as Buffer).length
  const due = startedAt + (bytes / bytesPerSecond) * 1000
  const early = due - performance.now()
  if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
}
