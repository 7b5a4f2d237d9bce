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
    settings: usual,
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
const usual = { start_date: '2024-01-01', history_refresh_days: 0, external_references: [] }
/** Five rows, one on each page. */
const paged = (options: History['options']): Partial<History> => ({
  options: { people: 0, months: 0, pageSize: 1, ...options },
  settings: usual,
  seeded: Array.from({ length: 5 }, () => insert(RECENT)),
})
const editOfRead = change({ kind: 'update', pick: 0, isRead: true } as Change)
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
    [
      'moves a row that was read to the end of a list by offset, where it hides another one',
      {
        ...paged({ listOrder: 'version', paging: 'offset' }),
        steps: [sync({ during: [{ atRequest: 3, event: editOfRead }] })],
      },
    ],
    [
      'changes a row that was read before the delta link that tells of later changes only',
      {
        ...paged({ deltaLinkCovers: 'issued' }),
        steps: [sync({ during: [{ atRequest: 3, event: editOfRead }] })],
      },
    ],
    [
      'reports a row that is back, and its Delete after that',
      {
        ...paged({ deltaLog: true, deltaOrder: 'reversed' }),
        steps: [sync(), remove(0), change({ kind: 'restore', pick: 0 } as Change)],
      },
    ],
    [
      'is told what happened in silence by an audit that has been there before',
      {
        ...paged({}),
        settings: { ...usual, audit_days: 1 },
        steps: [
          ...[sync(), { do: 'advance', hours: 25 } as const, sync()],
          ...[change({ kind: 'update', pick: 0 } as Change), sync()],
          ...[{ do: 'revert', stream: 0, changes: 1 } as const, sync()],
        ],
      },
    ],
    [
      'refuses the lists of an audit, though the delta works',
      {
        ...paged({}),
        streams: ['jobs'],
        settings: { ...usual, audit_days: 1 },
        steps: [
          ...[sync(), { do: 'advance', hours: 25 } as const],
          sync({ faults: [{ kind: 403, path: 'whole-list', stream: 0, skip: 0, times: 99 }] }),
        ],
      },
    ],
    [
      'says for a sync that it is the year 2150, and deletes a row before the next one',
      {
        ...paged({}),
        steps: [
          ...[sync(), { do: 'date', to: '2150-01-01T00:00:00Z' } as const, sync()],
          ...[remove(0), { do: 'date', to: undefined } as const, sync()],
        ],
      },
    ],
  ]
  it.each(cases)('%s', async (_what, given) => {
    await expect(runHistory(history(given), 'in-process')).resolves.toBeUndefined()
  })
})
