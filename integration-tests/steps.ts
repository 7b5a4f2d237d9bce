/** What is tried one after the other, and told as it comes. */
export interface Steps {
  /** Tries one thing; an error that `attempt` throws is its failure, and undefined the answer. */
  step<Result>(name: string, attempt: () => Promise<Result> | Result): Promise<Result | undefined>
  /** Tells something that was measured. */
  note(text: string): void
  /** Tells how many passed and sets the exit code: 0 only if something was tried and nothing failed. */
  end(): void
}

/** Steps that write one line each to stdout, with the seconds since the start. */
export function createSteps(): Steps {
  const start = performance.now()
  const counts = { passed: 0, failed: 0 }
  const tell = (text: string) => process.stdout.write(`${text}\n`)
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(1).padStart(5)} s`
  return {
    async step(name, attempt) {
      try {
        const result = await attempt()
        counts.passed += 1
        tell(`ok   ${seconds()}  ${name}`)
        return result
      } catch (error) {
        counts.failed += 1
        tell(
          `FAIL ${seconds()}  ${name}\n${error instanceof Error ? error.message : String(error)}`,
        )
        return undefined
      }
    },
    note: (text) => tell(`     ${seconds()}  ${text}`),
    end() {
      tell(`${counts.passed} passed, ${counts.failed} failed, ${seconds().trim()}`)
      process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
    },
  }
}
