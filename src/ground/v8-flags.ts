import { setFlagsFromString } from 'node:v8'

/** The engines of Node 20, 22, 24 and 26, which know the flags that we set. */
const ENGINES = /^(11\.3|12\.4|13\.6|14\.6)\./

/** Whether flags of V8 can be set; other engines are left alone. */
export const knowsFlags: boolean = ENGINES.test(process.versions.v8)

/** Sets a flag, for all that runs in the process. */
export function setFlag(flag: string): void {
  if (knowsFlags) setFlagsFromString(flag)
}
