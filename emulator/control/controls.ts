import type { Span } from '../clock.ts'
import type { LoggedRequest } from '../http/http-server.ts'
import type { Mutations } from '../mutations/mutations.ts'
import type { ChangeCounts, WantedChanges } from '../mutations/random-changes.ts'
import type { ResolvedOptions } from '../options.ts'
import type { ReferencePair } from '../references/reference-pairs.ts'
import type { Fields, Id } from '../store/store.ts'
import type { WebhookControls } from '../webhooks/webhook-controls.ts'
import type { Disturbances } from './disturbances.ts'

/** What can be done to a running emulator and seen of it, by a test or by the control endpoint. */
export interface Controls extends Mutations, Disturbances, WebhookControls {
  /** Live: a change takes effect with the next request. */
  readonly options: ResolvedOptions
  /** Every request since the start, in the order of arrival. */
  readonly requests: readonly LoggedRequest[]
  /** A configuration with which the connector reads this tenant. */
  config(): Record<string, unknown>
  /** The time of the virtual clock. */
  now(): Date
  /** Moves the clock at once; deliveries that become due by it are attempted afterwards. */
  advance(by: Span): void
  /**
   * What a collection holds, ascending by id, without softly deleted records; with the wanted
   * external references where they belong.
   */
  all(collection: string, wanted?: readonly ReferencePair[]): Fields[]
  /** Everything that a collection holds, softly deleted records too. */
  stored(collection: string): Fields[]
  /**
   * Makes many plausible changes, spread over all collections; the same seed on the same tenant
   * repeats them.
   */
  randomChanges(wanted: WantedChanges): ChangeCounts
  /** Registers a custom reference as a PUT does, and throws what a PUT refuses (`putReference`). */
  setReference(collection: string, name: string, value: string, id: Id): void
  /** Removes a custom reference as a DELETE does; one that is not registered is no error. */
  removeReference(collection: string, name: string, value: string): void
}
