import { knowsFlags, setFlag } from '../ground/v8-flags.ts'

// undici's parser is a WebAssembly function of 33 KB. V8 optimises it after the first answer. That takes a third of
// all memory and 0.1 s of a core, and makes a long sync less than 1 % faster. See docs/decisions/v8-does-not-optimise-the-http-parser.md.

type Stage = 'never' | 'before' | 'under way' | 'after'
let stage: Stage = 'never'

/**
 * Keeps V8 from optimising the parser. Only the programs in bin call this: V8's flags apply to the whole process, and
 * the library runs in the processes of others.
 */
export function allowUnoptimisedParser(): void {
  if (stage === 'never' && knowsFlags) stage = 'before'
}

/** Called before the first request: WebAssembly that runs for the first time from now on is not optimised. */
export function keepNextUnoptimised(setFlags = setFlag): void {
  if (stage !== 'before') return
  stage = 'under way'
  // V8 optimises only the function with this number, and there is none.
  setFlags('--wasm-tier-up-filter=1000000')
}

/** Called when the parser has run: code that runs later is worth optimising. */
export function optimiseAgain(setFlags = setFlag): void {
  if (stage !== 'under way') return
  stage = 'after'
  setFlags('--wasm-tier-up-filter=-1')
}
