import { type ActionTools, EXIT, type ExitCode } from './command.ts'
import { sayAll, withClient } from './with-client.ts'

/** Prints all work locations. */
export async function list(tools: ActionTools): Promise<ExitCode> {
  await withClient(tools, ['work-locations.read'], ({ workLocations }) =>
    sayAll(tools, workLocations.list()),
  )
  return EXIT.done
}
