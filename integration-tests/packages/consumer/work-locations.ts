import { readFileSync } from 'node:fs'
import { ClientError, connect, type WorkLocation } from 'source-protime/client'

// A program of somebody who has installed the package and asks the service for what is no stream. It is
// compiled and run against the packed package, not with the project.
const config: unknown = JSON.parse(readFileSync('config.json', 'utf8'))
const client = connect(config, { scopes: ['work-locations.read', 'job-categories.read'] })
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
