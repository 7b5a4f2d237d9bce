// What tests of other connectors import as `source-protime/protocol/testing`. Nothing else is public.

export { airbyteFaults, type SourceCommand } from './airbyte-faults.ts'
export type { ProgramRun } from './messages.ts'
export { singerFaults } from './singer-faults.ts'
