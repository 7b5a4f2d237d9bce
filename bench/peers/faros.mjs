import { createRequire } from 'node:module'
import { join } from 'node:path'

// The stream of clockings as a source of faros-airbyte-cdk, in the way of its documentation. PEERS is the
// folder that the package is installed in, LINK the address of the first page.
const { PEERS, LINK } = process.env
const require = createRequire(join(PEERS, 'package.json'))
const {
  AirbyteSourceBase,
  AirbyteSourceLogger,
  AirbyteSourceRunner,
  AirbyteSpec,
  AirbyteStreamBase,
} = require('faros-airbyte-cdk')

class Clockings extends AirbyteStreamBase {
  get name() {
    return 'clockings'
  }

  get primaryKey() {
    return 'id'
  }

  getJsonSchema() {
    return { type: 'object', properties: { id: { type: 'integer' } } }
  }

  async *readRecords() {
    for (let link = LINK; link !== undefined; ) {
      const { value, nextLink } = await (await fetch(link)).json()
      yield* value
      link = nextLink === undefined ? undefined : new URL(nextLink, LINK).href
    }
  }
}

class Source extends AirbyteSourceBase {
  get type() {
    return 'bench'
  }

  async spec() {
    return new AirbyteSpec({ connectionSpecification: { type: 'object', properties: {} } })
  }

  async checkConnection() {
    return [true, undefined]
  }

  streams() {
    return [new Clockings(this.logger)]
  }
}

const logger = new AirbyteSourceLogger()
await new AirbyteSourceRunner(logger, new Source(logger)).mainCommand().parseAsync()
