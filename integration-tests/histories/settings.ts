/** How many histories are played, and from which seed; see long-run.mjs. */
export interface RunSettings {
  readonly runs: number
  /** Undefined draws a new one. */
  readonly seed: number | undefined
  /** Where a failing history is found below the seed. */
  readonly path: string | undefined
}

/** The settings of a long run from the environment, or the usual number of histories. */
export function runSettings(usual: number): RunSettings {
  const { HISTORIES_RUNS, HISTORIES_SEED, HISTORIES_PATH } = process.env
  return {
    runs: HISTORIES_RUNS === undefined ? usual : Number(HISTORIES_RUNS),
    seed: HISTORIES_SEED === undefined ? undefined : Number(HISTORIES_SEED),
    path: HISTORIES_PATH,
  }
}
