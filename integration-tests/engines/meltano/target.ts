import type { Row } from '../tenant.ts'
import type { Project } from './project.ts'

/** A loader of Meltano with somebody who reads what it has stored. */
export interface Target {
  readonly plugin: string
  /** Whether ACTIVATE_VERSION removes rows; elsewhere the query on _generation finds ghosts. */
  readonly activatesVersions: boolean
  /** Whether the target may lose the first row of a load when that row is a deletion. */
  readonly losesFirstDelete: boolean
  /** Settings of the plugin, as Meltano reads them from variables. */
  readonly environment: Readonly<Record<string, string>>
  /** Every row of every table, by the name of the table, deleted rows too. */
  tables(project: Project): Promise<ReadonlyMap<string, readonly Row[]>>
  /** A record of the service as this target can hold it. */
  asStored(record: Row): Row
}
