import type { Mask } from '../../mask.ts'
import type { Log } from '../log.ts'
import type { CheckResult, Failure } from '../outcome.ts'
import type { Program } from '../program.ts'
import type { ConfiguredStream } from './catalog.ts'

/** What a command works with. */
export interface CommandTools extends Program {
  readonly log: Log
  readonly mask: Mask
}

/** What a connector offers; each method is called at most once in a process. */
export interface AirbyteSource {
  readonly name: string
  readonly version: string
  spec(): object
  /** Values in an unchecked configuration that must not be printed. */
  secrets(config: unknown): Promise<readonly string[]>
  check(config: unknown, tools: CommandTools): Promise<CheckResult>
  /** The streams as AirbyteStream objects. */
  discover(config: unknown, tools: CommandTools): Promise<readonly object[]>
  /** Writes records, states and statuses itself; what went wrong comes back. */
  read(
    config: unknown,
    catalog: readonly ConfiguredStream[],
    states: ReadonlyMap<string, unknown>,
    tools: CommandTools,
  ): Promise<readonly Failure[]>
}
