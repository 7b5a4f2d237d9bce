import fc, { type RunDetails } from 'fast-check'
import { histories } from './draw.ts'
import type { History, Place } from './history.ts'
import { play } from './play.ts'
import { sentences } from './sentences.ts'
import type { RunSettings } from './settings.ts'

/**
 * Plays so many drawn histories. One that fails is made as short as possible and told, with what
 * replays it.
 */
export async function prove(place: Place, { runs, seed, path }: RunSettings): Promise<void> {
  const property = fc.asyncProperty(histories(place), (history) => play(history, place))
  const details = await fc.check(property, {
    numRuns: runs,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  })
  if (details.failed) throw new Error(report(details, place))
}

function report(details: RunDetails<[History]>, place: Place): string {
  const { seed, counterexamplePath, counterexample, errorInstance, numRuns, numShrinks } = details
  const what = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  return [
    `History ${numRuns} fails (${place}), shortened ${numShrinks} times. Replay it with`,
    `npm run test:histories -- --place ${place} --seed ${seed} --path ${counterexamplePath}`,
    counterexample === null ? '' : sentences(counterexample[0]),
    what,
  ].join('\n')
}
