/** How many histories are run, and from which seed; see long-run.mjs and vitest.nightly.config.ts. */
export interface RunSettings {
  readonly runs: number
  /** Undefined takes another one each time. */
  readonly seed: number | undefined
  /** Where a failing history is found below the seed. */
  readonly path: string | undefined
}

/** The seed of the gate, so that a red test is about the change that it judges. */
const SEED = 2

/**
 * So many histories from the same seed each time, unless the environment says otherwise: another
 * number, or a multiple of the usual one, another seed (`random` for a new one), or one history.
 */
export function runSettings(usual: number): RunSettings {
  const { HISTORIES_RUNS, HISTORIES_SCALE = '1', HISTORIES_PATH } = process.env
  const { HISTORIES_SEED = String(SEED) } = process.env
  return {
    runs: HISTORIES_RUNS === undefined ? usual * Number(HISTORIES_SCALE) : Number(HISTORIES_RUNS),
    seed: HISTORIES_SEED === 'random' ? undefined : Number(HISTORIES_SEED),
    path: HISTORIES_PATH,
  }
}
