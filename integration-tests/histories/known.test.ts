import { describe, expect, it } from 'vitest'
import type { Change, Event, History, Sync } from './history.ts'
import { runHistory } from './run-history.ts'

/** Days from the emulator's now, 2026-11-20: inside the delta's window, and before 2025-01-01. */
const RECENT = -30
const OLD = -800

function history(given: Partial<History>): History {
  return {
    streams: ['clockings'],
    options: { people: 0, months: 0, pageSize: 1 },
    settings: { start_date: '2024-01-01', history_refresh_days: 0, external_references: [] },
    seeded: [],
    steps: [],
    ...given,
  }
}

function sync(given: Partial<Sync> = {}): Sync {
  return { do: 'sync', during: [], faults: [], killAfter: 0, kept: 'committed', ...given }
}

function change(change: Omit<Change, 'stream'>): Event {
  return { do: 'change', change: { stream: 0, ...change } as Change }
}

const insert = (day: number): Change => ({
  stream: 0,
  pick: 0,
  kind: 'insert',
  day,
  size: 'small',
})
const move = (pick: number, day: number) => change({ kind: 'move', pick, day } as Change)
const short = {
  faults: [{ kind: 'short', path: 'whole-list', stream: 0, skip: 0, times: 1 }],
} as const
const remove = (pick: number) => change({ kind: 'remove', pick } as Change)

describe('a history that once went wrong', () => {
  const cases: [what: string, given: Partial<History>][] = [
    [
      'moves a row out of the window by an update, and deletes it where no delta watches',
      {
        options: { people: 0, months: 0, leavingRow: 'update' },
        seeded: [insert(RECENT)],
        steps: [sync(), move(0, OLD), sync(), remove(0)],
      },
    ],
    [
      'moves a row into the history behind its listing, before another row changes there',
      {
        seeded: [insert(RECENT), insert(OLD), insert(OLD)],
        steps: [
          sync({
            during: [
              // After the token, two pages of the delta and one of the history.
              { atRequest: 5, event: move(0, OLD) },
              { atRequest: 5, event: change({ kind: 'update', pick: 2 } as Change) },
            ],
          }),
        ],
      },
    ],
    [
      'brings a row back behind the reading of its list, before another row changes there',
      {
        streams: ['job_categories'],
        seeded: [insert(RECENT), insert(RECENT), insert(RECENT)],
        steps: [
          sync(),
          remove(0),
          sync({
            during: [
              // After the token and the first page.
              { atRequest: 3, event: change({ kind: 'restore', pick: 0 } as Change) },
              { atRequest: 3, event: change({ kind: 'update', pick: 2 } as Change) },
            ],
          }),
        ],
      },
    ],
    [
      'reads tokens and references that begin with a byte order mark',
      {
        streams: ['external_references'],
        options: { people: 2, months: 0, byteOrderMark: true },
        steps: [{ do: 'reference', pick: 0, isRemoval: false }],
      },
    ],
    [
      'meets a service that denies the list of the history once',
      {
        settings: { start_date: '2024-01-01', history_refresh_days: 1, external_references: [] },
        seeded: [insert(OLD), insert(RECENT)],
        steps: [
          sync(),
          change({ kind: 'update', pick: 1 } as Change),
          { do: 'advance', hours: 25 },
          sync({ faults: [{ kind: 404, path: 'list', stream: 0, skip: 0, times: 9 }] }),
        ],
      },
    ],
    [
      'deletes a row that the listing of the history, denied once, could not confirm',
      {
        settings: { start_date: '2024-01-01', history_refresh_days: 1, external_references: [] },
        seeded: [insert(OLD), insert(RECENT)],
        steps: [
          sync(),
          { do: 'advance', hours: 25 },
          sync({ faults: [{ kind: 404, path: 'list', stream: 0, skip: 0, times: 9 }] }),
          remove(0),
        ],
      },
    ],
    [
      'leaves a row out of a list, and in the next sync out of the list that looks for it once more',
      {
        streams: ['calculated_totals'],
        seeded: [insert(OLD), insert(RECENT)],
        steps: [sync(), { do: 'advance', hours: 80 }, sync(short), sync(short)],
      },
    ],
  ]
  it.each(cases)('%s', async (_what, given) => {
    await expect(runHistory(history(given), 'in-process')).resolves.toBeUndefined()
  })
})
