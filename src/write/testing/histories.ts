import fc from 'fast-check'
import { folded } from '../../ground/text.ts'
import type { Fault } from './fake-requests.ts'
import { type FakeOptions, RECORDS } from './fake-service.ts'

/** `npm run test:histories -- --place write` runs more, with another seed each time. */
const { HISTORIES_RUNS, HISTORIES_SCALE = '1', HISTORIES_PATH: path } = process.env

/** The number of histories, or the one to repeat. */
export const parameters = {
  numRuns: Number(HISTORIES_RUNS ?? 20 * Number(HISTORIES_SCALE)),
  ...(path !== undefined && { path }),
}
export const UNLIMITED = { timeout: 86_400_000 }

/** Ids of existing records. */
export const ids = fc.integer({ min: 1, max: RECORDS }).map(String)

/** Runs whose requests get the listed faults, and a last run without faults. */
export interface History<T> {
  readonly options: FakeOptions
  readonly start: readonly T[]
  readonly wanted: readonly T[]
  readonly runs: readonly (readonly Fault[])[]
  readonly batchSize: number
}

/** Values of references. */
export const values = fc.integer({ min: 0, max: 4 }).map((n) => `v\u00e9${n}`)

/** Generates histories with some of these faults in each run. */
export function histories<T>(
  start: fc.Arbitrary<T>,
  wanted: fc.Arbitrary<T>,
  faults: readonly Fault[],
): fc.Arbitrary<History<T>> {
  return fc.record({
    options: fc.record({
      secondValue: fc.constantFrom('replaces' as const, 'conflict' as const),
      hasEtags: fc.boolean(),
      lists: fc.constant('answer' as const),
      trims: fc.boolean(),
      cases: fc.constant('two' as const),
      blanks: fc.constant('kept' as const),
      readsDigits: fc.boolean(),
      unknownRecord: fc.constantFrom(404 as const, 400 as const),
      checkedFirst: fc.constantFrom('record' as const, 'link' as const),
    }),
    start: fc.array(start, { maxLength: 5 }),
    wanted: fc.array(wanted, { maxLength: 8 }),
    runs: fc.array(
      fc.array(fc.constantFrom<Fault>('none', 'none', ...faults), { minLength: 1, maxLength: 12 }),
      { maxLength: 3 },
    ),
    batchSize: fc.constantFrom(2, 3, 1000),
  })
}

/** The service's rule: one value per record, one record per value. */
export function relink(links: Map<string, string>, value: string, id: string): void {
  for (const [other, linked] of links) if (linked === id) links.delete(other)
  links.set(value, id)
}

/** Returns the links with normalized values as keys. */
export function foldedKeys(links: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...links].map(([value, id]) => [folded(value), id]))
}

/** Spellings of a value or a name that all mean the same. */
export const spellings = fc.constantFrom('plain', 'plain', 'blank', 'decomposed')
/** Spellings that are the same only for a service that ignores case or spaces. */
export const spellingsInForm = fc.constantFrom('plain', 'capital', 'blank within')

/** Spells a text. */
export function spelled(text: string, spelling: string): string {
  if (spelling === 'capital') return text.toUpperCase()
  if (spelling === 'blank within') return text.replace('v', 'v ')
  if (spelling === 'blank') return `${text} `
  return spelling === 'decomposed' ? text.normalize('NFD') : text
}
