import { setFlagsFromString } from 'node:v8'

/** The V8 versions of Node 20, 22, 24 and 26, which support the flags that we set. */
const ENGINES = /^(11\.3|12\.4|13\.6|14\.6)\./

/** Whether V8's flags may be set; in other versions of V8 they are not touched. */
export const knowsFlags: boolean = ENGINES.test(process.versions.v8)

/** Sets a V8 flag for the whole process, if this version of V8 supports it. */
export function setFlag(flag: string): void {
  if (knowsFlags) setFlagsFromString(flag)
}
