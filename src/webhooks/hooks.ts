/** A webhook of ours, as far as a delivery needs to know it. */
export interface Hook {
  /** The service's name of the collection, such as `access-clockings`. */
  readonly collection: string
  /** Empty while it is `creating`: the service has not told the key yet. */
  readonly keys: readonly string[]
  /** `retiring`: it has a successor, but the service still repeats deliveries to it. */
  readonly state: 'creating' | 'live' | 'retiring'
}

/** The webhooks of a store. */
export interface Hooks {
  /** The webhook of a path `.../hooks/<collection>/<nonce>`; undefined unless both are right. */
  byNonce(collection: string, nonce: string): Hook | undefined
  /** The webhook once it is no longer `creating`; undefined after so many milliseconds, or if it is given up. */
  settled(nonce: string, ms: number): Promise<Hook | undefined>
}
