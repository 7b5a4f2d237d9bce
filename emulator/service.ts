import type { Clock } from './clock.ts'
import type { Continuations } from './continuations.ts'
import type { Deltas } from './deltas.ts'
import type { Members } from './filter/check.ts'
import type { Links } from './links.ts'
import type { ResolvedOptions } from './options.ts'
import type { References } from './references.ts'
import type { Store } from './store.ts'
import type { Tokens } from './tokens.ts'

/** Everything that the endpoints share. */
export interface Service {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly store: Store
  readonly references: References
  readonly links: Links
  readonly continuations: Continuations
  readonly deltas: Deltas
  readonly tokens: Tokens
  readonly members: Members
  /** The origin of both hosts. */
  url(): string
}
