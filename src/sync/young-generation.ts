import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8's young generation stay as it is: records are bytes outside of the heap, so that one that grows takes
 * memory and saves no time. Called once all is loaded, because V8 compiles the modules of Node anew after it.
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
