import { expect, it } from 'vitest'
import type { Answer, Connection } from './connection.ts'
import { beginFence } from './fence.ts'

/** A connection that answers as given, and notes in `open` whether it is open. */
function connection(open: Set<string>, name: string, answers: readonly (Answer | Error)[]) {
  const left = [...answers]
  open.add(name)
  const next = async () => {
    const answer = left.shift() ?? { rows: [], fields: [] }
    if (answer instanceof Error) throw answer
    return answer
  }
  return {
    query: next,
    queryOne: next,
    copy: async () => {},
    close: async () => void open.delete(name),
  } satisfies Connection
}

const row = (...values: string[]): Answer => ({ rows: [values], fields: [] })
const failed = (code: string) => Object.assign(new Error('x'), { code })
const lost = () => failed('ECONNRESET')

it.each<[string, readonly (Answer | Error)[], object]>([
  ['a later sync has begun', [row(), row('2', '1')], { id: 'in-use' }],
  ['the next connection is lost, too', [lost()], { code: 'ECONNRESET' }],
  // Then the same transaction must not be tried again, as it is for another lock.
  ['it is still committing', [row(), failed('55P03')], { code: 'ECONNRESET' }],
  ['it was not committed', [row(), row('1', '0')], { code: 'ECONNRESET' }],
])(
  'a lost answer to COMMIT leaves no connection behind that keeps the process alive: %s',
  async (_, answers, error) => {
    const open = new Set<string>()
    const first = connection(open, 'first', [row('1', '0'), row('1'), lost()])
    const fence = await beginFence(first, 'meta', async () => connection(open, 'second', answers))
    const number = await fence.begin(first)
    await expect(fence.commit(first, number)).rejects.toMatchObject(error)
    expect([...open]).toEqual([])
  },
)
