import { Readable } from 'node:stream'
import { ConnectorError } from '../../src/ground/errors.ts'
import type { runAirbyteDestination } from '../../src/protocol/airbyte/entrypoint.ts'
import type { Destination, DestinationConnector } from '../../src/protocol/destination.ts'
import type { runSingerTarget } from '../../src/protocol/singer/target.ts'
import type { Collector } from './output.ts'
import { runConnector } from './run.ts'

/** How a shelf is written. */
export interface ShelfConfig {
  readonly token?: string
  /** Books are refused without this permission. */
  readonly mayWriteBooks?: boolean
  readonly isDryRun?: boolean
}

/** What a shelf holds, and what a test may do to it. */
export interface Shelf {
  readonly connector: DestinationConnector<ShelfConfig>
  readonly books: Map<unknown, unknown>
  readonly journals: Map<unknown, unknown>
  /** The objects whose records were said to be all there are. */
  readonly completed: string[]
  /** A book of this key takes until the promise ends. */
  slowBook: { readonly isbn: unknown; readonly until: Promise<void> } | undefined
}

/** A destination of another kind, in memory: what a connector needs besides the protocol library. */
export function createShelf(): Shelf {
  const [books, journals] = [new Map(), new Map()]
  const shelf: Shelf = {
    connector: {
      name: 'shelf',
      version: '1.2.3',
      description: 'Writes to a shelf.',
      spec: {
        supported_destination_sync_modes: ['append', 'overwrite'],
        connectionSpecification: {
          type: 'object',
          properties: { token: { type: 'string', airbyte_secret: true } },
        },
      },
      load: async () => destination,
    },
    books,
    journals,
    completed: [],
    slowBook: undefined,
  }
  const destination: Destination<ShelfConfig> = {
    configure: (input) => input as ShelfConfig,
    objects: () => [
      {
        name: 'books',
        schema: { type: 'object', properties: { isbn: { type: 'string' } } },
        matchingKeys: [['isbn']],
        modes: ['append', 'overwrite'],
      },
      { name: 'journals', schema: { type: 'object' }, matchingKeys: [['id']], modes: ['append'] },
    ],
    async check({ token = '' }) {
      if (token === '') throw new ConnectorError('config', 'x-test', 'A token is missing.')
      return { isUsable: true, message: 'A shelf.' }
    },
    async open({ mayWriteBooks = true, isDryRun = false }, { onOutcome, signal }) {
      const failed = new Map<string, ConnectorError>()
      const all: Promise<void>[] = []
      return {
        isDryRun,
        failed,
        async add({ object, ordinal, data, isDelete, fault }) {
          if (fault !== undefined) return onOutcome({ ordinal, rejection: fault })
          if (object === 'books' && !mayWriteBooks) {
            failed.set(
              object,
              new ConnectorError('config', 'x-test', 'The permission books.write is missing.'),
            )
            return onOutcome({ ordinal })
          }
          const [place, key] = object === 'books' ? [books, data['isbn']] : [journals, data['id']]
          const put = () => {
            if (key === undefined) return onOutcome({ ordinal, rejection: 'It has no key.' })
            if (!isDryRun && isDelete) place.delete(key)
            else if (!isDryRun) place.set(key, data['title'])
            onOutcome({ ordinal })
          }
          const isSlow = key !== undefined && shelf.slowBook?.isbn === key
          all.push(
            isSlow ? (shelf.slowBook?.until ?? Promise.resolve()).then(put) : (async () => put())(),
          )
        },
        async flush() {
          await Promise.race([Promise.all(all), aborted(signal)])
        },
        complete: async (object) => void shelf.completed.push(object),
        close: async () => [],
      }
    },
  }
  return shelf
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })
}

type Program = typeof runAirbyteDestination | typeof runSingerTarget

/** What a program is run with. */
export interface Given {
  readonly words: readonly (string | object)[]
  /** Lines of stdin; objects are messages. */
  readonly input?: readonly (string | object)[] | Readable
  readonly env?: Readonly<Record<string, string>>
  readonly stdout?: Collector
}

/** Runs a program of the shelf in this process; objects among the words are written to files. */
export async function runShelf(
  program: Program,
  shelf: Shelf,
  { words, input = [], ...given }: Given,
) {
  const text = (line: string | object) =>
    `${typeof line === 'string' ? line : JSON.stringify(line)}\n`
  const stdin = input instanceof Readable ? input : Readable.from([input.map(text).join('')])
  return runConnector(program, shelf.connector, words, { ...given, stdin })
}
