import type { ActionTools } from './action.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { sayAll, withClient } from './with-client.ts'

/** Prints all work locations. */
export async function list(tools: ActionTools): Promise<ExitCode> {
  await withClient(tools, ['work-locations.read'], ({ workLocations }) =>
    sayAll(tools, workLocations.list()),
  )
  return EXIT.done
}
