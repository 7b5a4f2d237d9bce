import { knowsFlags, setFlag } from '../ground/v8-flags.ts'

// undici's parser is WebAssembly, one function of 33 KB. V8 optimises it after the first answer: that takes
// a third of all memory and a tenth of a second of a core, and saves less than a percent of a long sync. See
// docs/decisions/speed.md.

type Stage = 'never' | 'before' | 'under way' | 'after'
let stage: Stage = 'never'

/**
 * Lets the parser stay as it is. Only the programs in bin call it: a flag of V8 holds for all that runs in the
 * process, and the library runs in that of somebody else.
 */
export function allowUnoptimisedParser(): void {
  if (stage === 'never' && knowsFlags) stage = 'before'
}

/** Before the first request: what WebAssembly runs for the first time from now on stays as it is. */
export function keepNextUnoptimised(setFlags = setFlag): void {
  if (stage !== 'before') return
  stage = 'under way'
  // Only a function of this number would be optimised; there is none.
  setFlags('--wasm-tier-up-filter=1000000')
}

/** The parser has run, and what runs after it is worth optimising. */
export function optimiseAgain(setFlags = setFlag): void {
  if (stage !== 'under way') return
  stage = 'after'
  setFlags('--wasm-tier-up-filter=-1')
}
