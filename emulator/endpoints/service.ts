import type { Tokens } from '../auth/tokens.ts'
import type { Clock } from '../clock.ts'
import type { Deltas } from '../delta/deltas.ts'
import type { PersonGroups } from '../filter/check.ts'
import type { Links } from '../http/links.ts'
import type { ResolvedOptions } from '../options.ts'
import type { References } from '../references/references.ts'
import type { Store } from '../store/store.ts'
import type { Deliveries } from '../webhooks/deliveries.ts'
import type { DeliveryFaults } from '../webhooks/delivery-faults.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { Continuations } from './continuations.ts'

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
  readonly personGroups: PersonGroups
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly deliveryFaults: DeliveryFaults
  /** The origin of both hosts. */
  url(): string
}
