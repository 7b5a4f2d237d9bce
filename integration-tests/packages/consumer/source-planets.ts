import { type Connector, createJsonBatch, runAirbyte } from 'source-protime/protocol'

// A connector of somebody who has installed the package: one stream, one page. It is compiled and
// run against the packed package, not with the project.
const schema = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' } },
} as const
const records = [
  { json: '{"id":3,"name":"Earth"}', key: '3' },
  { json: '{"id":4,"name":"Mars"}', key: '4' },
]

const planets: Connector<object> = {
  name: 'planets',
  version: '1.0.0',
  description: 'Reads two planets.',
  spec: { connectionSpecification: { type: 'object', properties: {} } },
  load: async () => ({
    configure: () => ({}),
    streams: () => [{ name: 'planets', schema, key: ['id'] }],
    check: async () => ({ isUsable: true, message: 'All planets can be read.' }),
    async read(_config, requests) {
      for (const { output } of requests) {
        output.started(() => ({ isRead: true }))
        await output.records(createJsonBatch(records), {
          generation: 1,
          cursor: 1,
          now: new Date(),
        })
        await output.complete()
      }
    },
  }),
}

process.exitCode = await runAirbyte(process.argv.slice(2), planets)
