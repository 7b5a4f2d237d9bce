import fc, { type RunDetails } from 'fast-check'
import { histories, type Kind } from './arbitrary-history.ts'
import type { History, Place } from './history.ts'
import { runHistory } from './run-history.ts'
import { sentences } from './sentences.ts'
import { runSettings } from './settings.ts'

/** Long enough for thousands of histories, and for one that fails to be shortened. */
export const DAY_MS = 86_400_000

/**
 * Runs so many random histories of a kind. One that fails is made as short as possible and told,
 * with the command that replays it.
 */
export async function checkHistories(kind: Kind, place: Place, usual: number): Promise<void> {
  const { runs, path } = runSettings(usual)
  const property = fc.asyncProperty(histories(kind, place), (history) => runHistory(history, place))
  const details = await fc.check(property, {
    numRuns: runs,
    ...(path === undefined ? {} : { path }),
  })
  if (details.failed) throw new Error(report(details, kind, place))
}

function report(details: RunDetails<[History]>, kind: Kind, place: Place): string {
  const { seed, counterexamplePath, counterexample, errorInstance, numRuns, numShrinks } = details
  const what = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  const replay = `--kind ${kind} --place ${place} --seed ${seed} --path ${counterexamplePath}`
  return [
    `History ${numRuns} fails (${kind}, ${place}), shortened ${numShrinks} times. Replay it with`,
    `npm run test:histories -- ${replay}`,
    counterexample === null ? '' : sentences(counterexample[0]),
    what,
  ].join('\n')
}
