import { setFlagsFromString } from 'node:v8'

// What the programs change in V8, the JavaScript engine of Node. Its flags apply to the whole process.

/** The V8 versions of Node 20, 22, 24 and 26, which support the flags that we set. */
const ENGINES = /^(11\.3|12\.4|13\.6|14\.6)\./

/** In other versions of V8, flags are not touched. */
const knowsFlags: boolean = ENGINES.test(process.versions.v8)

function setFlag(flag: string): void {
  if (knowsFlags) setFlagsFromString(flag)
}

// undici's parser is a WebAssembly function of 33 KB. V8 optimises it after the first answer. That takes a third of
// all memory and 0.1 s of a core, and makes a long sync less than 1 % faster. See docs/decisions/v8-does-not-optimise-the-http-parser.md.

type Stage = 'never' | 'before' | 'under way' | 'after'
let stage: Stage = 'never'

/**
 * Keeps V8 from optimising the parser. Only the programs in bin call this: the library runs in the processes of
 * others.
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

/**
 * Limits the space for short-lived objects to 2 MB instead of up to 48 MB, and releases them when a third of it is used: a
 * comparison has no others, and each response is some of them with many bytes outside of the heap.
 */
export function keepHeapSmall(): void {
  setFlag('--semi-space-growth-factor=1')
  setFlag('--minor-gc-task-trigger=30')
}
