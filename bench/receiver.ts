import { createReceiver } from '../src/webhooks/receive/receiver.ts'

/**
 * A receiver with one webhook for each collection that an argument names, `<collection>=<key>`. Prints its port, and
 * closes when its input ends. It is measured, so it loads nothing else.
 */
const keys = new Map(process.argv.slice(2).map((word) => word.split('=') as [string, string]))

const receiver = createReceiver({
  hooks: {
    byNonce(collection) {
      const key = keys.get(collection)
      return key === undefined ? undefined : { collection, key, state: 'live' }
    },
    settled: async () => undefined,
  },
  onDelivery() {},
  log: { info() {}, debug() {}, warn: (line) => void process.stderr.write(`${line}\n`) },
})
const { port } = await receiver.listen(0, '127.0.0.1')
process.stdout.write(`${port}\n`)
process.stdin.resume().once('end', () => void receiver.close())
