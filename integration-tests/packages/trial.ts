import type { Tenant } from '../engines/tenant.ts'
import type { Steps } from '../steps.ts'

/** What the trial of a package works with. */
export interface Trial extends Pick<Steps, 'step' | 'note'> {
  /** A copy of the project to pack in. */
  readonly project: string
  /** An empty folder, removed at the end. */
  readonly folder: string
  readonly tenant: Tenant
}
