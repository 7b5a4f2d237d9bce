import { describe, expect, it } from 'vitest'
import { type Batch, DELETE, DROP, SOFT_DELETE, UPSERT } from '../protocol/record-batch.ts'
import { createLedger, type Ledger } from './live-keys.ts'
import { scattered } from './testing/scattered.ts'

interface Item {
  readonly id: number | string
  readonly version?: string
  readonly kind?: number
}

/** A batch as the scanner gives it, of the facts that the ledger looks at. */
function batch(...items: readonly Item[]): Batch {
  const versions = items.flatMap(({ version }) => (version === undefined ? [] : [version])).sort()
  return {
    count: items.length,
    ops: Uint8Array.from(items, ({ kind = UPSERT }) => kind),
    keys: Float64Array.from(items, ({ id }) => (typeof id === 'number' ? id : Number.NaN)),
    highestVersion: versions.at(-1),
    keyText: (i) => JSON.stringify(items[i]?.id),
    versionText: (i) => items[i]?.version,
    record: () => new Uint8Array(),
    lines: () => new Uint8Array(),
  }
}

function ledger(
  stored?: ReturnType<Ledger['encode']>,
  settings = { takes: (_characters: number) => true, onOutgrown: () => {} },
): Ledger {
  return createLedger(stored, settings)
}

/** What the ledger would delete: pairs of key and version. */
function deletes(account: Ledger): [unknown, string | null][] {
  return account
    .missing()
    .flatMap(({ keys, version }) =>
      [...keys].map((key): [unknown, string | null] => [key, version]),
    )
}

describe('the ledger', () => {
  it('deletes what a complete reading does not meet, with the highest version from before it', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }, { id: 2, version: 'C' }), 'live')
    account.beginReading()
    account.enter(batch({ id: 1, version: 'X' }), 'live')
    expect(deletes(account)).toEqual([[2, 'C']])
  })

  it('keeps a row that came back while the reading ran', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }), 'live')
    account.beginReading()
    account.enter(batch({ id: 5, version: 'B' }), 'live')
    account.enter(batch({ id: 1, version: 'C' }), 'live')
    expect(deletes(account)).toEqual([])
  })

  it('deletes rows of a page that broke and did not come again, above what was handed over', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'live', true)
    account.pageBroke()
    account.enter(batch({ id: 2, version: 'D' }), 'live')
    expect(deletes(account)).toEqual([[1, 'D']])
  })

  it('says of a page that is not complete that its rows are in doubt, should this be the end', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'live', true)
    const inMidPage = ledger(account.encode())
    inMidPage.enter(batch({ id: 2, version: 'D' }), 'live')
    expect(deletes(inMidPage)).toEqual([[1, 'D']])
    account.pageEnded()
    expect(deletes(ledger(account.encode()))).toEqual([])
  })

  it('keeps the rows of a part that could not be listed', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }, { id: 2, version: 'B' }), 'live')
    account.beginReading()
    expect(account.keepUnconfirmed('live', (key) => key === 1)).toBe(1)
    expect(deletes(account)).toEqual([[2, 'B']])
    account.beginReading()
    expect(deletes(account).map(([key]) => key)).toContain(1)
  })

  // spec: Conventions: changeVersion
  it('repeats a Delete that is lower than what was loaded, with the highest version', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'M' }), 'live')
    account.enter(batch({ id: 1, version: 'B', kind: DELETE }), 'live')
    expect(deletes(account)).toEqual([[1, 'M']])
  })

  it('repeats a Delete that is lower than a record before it on the same page', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'M' }, { id: 1, version: 'B', kind: DELETE }), 'live')
    expect(deletes(account)).toEqual([[1, 'M']])
  })

  it('does not repeat a Delete that is the newest', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'M' }), 'live')
    account.enter(batch({ id: 1, version: 'N', kind: DELETE }), 'live')
    expect(deletes(account)).toEqual([])
  })

  it('does not hand over a Delete of a row of the history, and doubts the history instead', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }), 'history')
    const answer = batch({ id: 1, version: 'B', kind: DELETE })
    account.enter(answer, 'live')
    expect([...answer.ops]).toEqual([DROP])
    expect(account.isHistoryInDoubt).toBe(true)
    account.beginHistory()
    expect(deletes(account)).toEqual([[1, 'B']])
  })

  it('takes a row that moved from the history into the window for live', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }), 'history')
    account.enter(batch({ id: 1, version: 'B' }), 'live')
    account.beginHistory()
    expect(deletes(account)).toEqual([])
  })

  it('does not take a softly deleted row for live', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }), 'live')
    account.enter(batch({ id: 1, version: 'B', kind: SOFT_DELETE }), 'live')
    account.beginReading()
    expect(deletes(account)).toEqual([])
  })

  it('adds what an interrupted reading had met to what the next one must meet', () => {
    const account = ledger()
    account.enter(batch({ id: 1, version: 'A' }), 'live')
    account.beginReading()
    account.enter(batch({ id: 2, version: 'B' }), 'live')
    account.beginReading()
    account.enter(batch({ id: 3, version: 'C' }), 'live')
    expect(deletes(account)).toEqual([
      [1, 'B'],
      [2, 'B'],
    ])
  })

  it('goes on from its encoding', () => {
    const first = ledger()
    first.enter(batch({ id: 1, version: 'A' }, { id: 'guid', version: 'B' }), 'live')
    first.beginReading()
    const second = ledger(first.encode())
    second.enter(batch({ id: 1, version: 'C' }), 'live')
    expect(deletes(second)).toEqual([['"guid"', 'B']])
  })

  it('gives up its sets, and says so once, when they outgrow the bookmark', () => {
    let told = 0
    const account = ledger(undefined, {
      takes: (characters) => characters < 3000,
      onOutgrown: () => told++,
    })
    const ids = Array.from({ length: 1000 }, (_, i) => ({ id: scattered(i, 2 ** 32) }))
    account.enter(batch(...ids), 'live')
    expect(account.encode()).toMatchObject({ tracked: false, live: null })
    account.encode()
    expect(told).toBe(1)
    expect(deletes(account)).toEqual([])
  })
})
