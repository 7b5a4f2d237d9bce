import {
  type AirbyteSource,
  airbyteStream,
  createAirbyteOutput,
  createAirbyteStates,
  createPageScanner,
  runAirbyte,
} from 'source-protime/protocol'

// A connector of somebody who has installed the package: one stream, one page. It is compiled and
// run against the packed package, not with the project.
const planets = {
  name: 'planets',
  schema: { properties: { id: { type: 'integer' }, name: { type: 'string' } } },
  key: ['id'],
  version: undefined,
}
const page = '{"value":[{"id":3,"name":"Earth"},{"id":4,"name":"Mars"}]}'

const source: AirbyteSource = {
  name: 'source-planets',
  version: '1.0.0',
  spec: () => ({ connectionSpecification: { type: 'object', properties: {} } }),
  secrets: async () => [],
  check: async () => ({ isReadable: true, message: 'All planets can be read.' }),
  discover: async () => [airbyteStream(planets)],
  async read(_config, _catalog, _states, { writer }) {
    const output = createAirbyteOutput({
      stream: planets.name,
      version: planets.version,
      writer,
      states: createAirbyteStates(),
      now: () => new Date(),
    })
    const scanner = createPageScanner({ key: 'id', version: 'changeVersion' })
    output.started(() => ({ isRead: true }))
    scanner.begin()
    await output.records(scanner.push(Buffer.from(page)), 1)
    scanner.end()
    output.running()
    await output.complete()
    return []
  },
}

process.exitCode = await runAirbyte(process.argv.slice(2), source)
