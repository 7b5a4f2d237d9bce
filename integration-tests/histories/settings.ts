/** How many histories are run; see long-run.mjs and vitest.nightly.config.ts. */
export interface RunSettings {
  readonly runs: number
  /** Where a failing history is found below the seed. */
  readonly path: string | undefined
}

/** So many histories, or a multiple, or another number, or one of them: as the environment says. */
export function runSettings(usual: number): RunSettings {
  const { HISTORIES_RUNS, HISTORIES_SCALE = '1', HISTORIES_PATH } = process.env
  return {
    runs: HISTORIES_RUNS === undefined ? usual * Number(HISTORIES_SCALE) : Number(HISTORIES_RUNS),
    path: HISTORIES_PATH,
  }
}
