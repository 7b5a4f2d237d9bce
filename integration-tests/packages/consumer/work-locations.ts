import { readFileSync } from 'node:fs'
import {
  type CallOptions,
  ClientError,
  connect,
  type ExternalReference,
  type ReferenceChoice,
  type Scope,
  type WorkLocation,
} from 'source-protime/client'

// A program of somebody who has installed the package and asks the service for what is no stream. It is
// compiled and run against the packed package, not with the project.
const config: unknown = JSON.parse(readFileSync('config.json', 'utf8'))
const scopes: Scope[] = ['work-locations.read', 'job-categories.read']
// Every type that a signature names can be named here, too.
export type Named = CallOptions | ExternalReference | ReferenceChoice
const client = connect(config, { scopes })
try {
  const found: WorkLocation[] = []
  for await (const location of client.workLocations.list()) found.push(location)
  process.stdout.write(`${found.length}\n`)
  const key = { id: 'no id' }
  const failure = await client.jobCategories.get(key).catch((error: unknown) => error)
  if (!(failure instanceof ClientError) || failure.mayHaveHappened) throw failure
} finally {
  await client.close()
}
