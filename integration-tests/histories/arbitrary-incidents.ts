import fc from 'fast-check'
import { changesBehindPage, events, type Focus } from './arbitrary-events.ts'
import { configure, gentle } from './arbitrary-settings.ts'
import {
  type Change,
  type Event,
  type Fault,
  type Kept,
  QUIET,
  type Size,
  type Step,
  type Sync,
} from './history.ts'
import type { OddMember } from './odd-members.ts'

/**
 * A stream that has been read is read whole once more, by a list that is wrong once while nothing else happens:
 * what it does not show lives.
 */
export function wrongOnce({ stream }: Focus): fc.Arbitrary<Step[]> {
  const list = fc.record({
    kind: fc.constantFrom('short', 'empty'),
    path: fc.constantFrom('list', 'whole-list'),
  })
  // No later change tells of what a page of a delta's first phase had in an old version.
  const copy = fc.record({ kind: fc.constant('stale'), path: fc.constant('whole-list') } as const)
  const refusal = fc.constantFrom(404, 405)
  const start = fc.record({ kind: refusal, path: fc.constant('delta-start' as const) })
  const fault: fc.Arbitrary<Pick<Fault, 'kind' | 'path'>> = fc.oneof(
    { weight: 3, arbitrary: list },
    { weight: 1, arbitrary: copy },
    { weight: 1, arbitrary: start },
  )
  return fc
    .record({ stream, fault, skip: fc.constantFrom(0, 0, 1, 2), isNew: fc.boolean() })
    .map(({ stream, fault, skip, isNew }): Step[] => {
      const one: Fault = {
        ...fault,
        stream,
        skip: fault.path === 'delta-start' ? 0 : skip,
        times: 1,
      }
      // One of tomorrow, so that a copy that lags behind lacks it.
      const insert: Change = { kind: 'insert', stream, pick: 0, day: 40, size: 'small' }
      return [
        ...(isNew ? [{ do: 'change', change: insert } as const] : []),
        QUIET,
        // The delta has ended, so that it is read whole as well.
        { do: 'advance', hours: 80 },
        { ...QUIET, faults: [one] },
      ]
    })
}

/**
 * Rows are read for the first time, by the first phase of a delta that begins anew, while a row leaves that it has read:
 * where pages are counted by rows, that hides another one. A second row could hide the same one from the second look.
 */
export function firstLoad({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({ stream, pick, day, atRequest: fc.integer({ min: 3, max: 8 }) })
    .map(({ stream, pick, day, atRequest }): Step[] => {
      const insert: Step = {
        do: 'change',
        change: { kind: 'insert', stream, pick, day, size: 'small' },
      }
      const gone: Event = { do: 'change', change: { kind: 'remove', stream, pick } }
      const rows = [insert, insert, insert, insert]
      const during = [{ atRequest, event: gone }]
      return [{ do: 'advance', hours: 80 }, ...rows, { ...QUIET, during }]
    })
}

/** A record gets what it should not have, is read, and gets something else, or another record gets it. */
export function oddRows({ stream, pick, odd }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({ stream, pick, other: pick, first: odd, second: odd, isSame: fc.boolean() })
    .map(({ stream, pick, other, first, second, isSame }): Step[] => {
      const change = (at: number, what: OddMember): Step => ({
        do: 'change',
        change: { kind: 'odd', stream, pick: at, ...what },
      })
      const member = isSame ? first.member : second.member
      return [change(pick, first), QUIET, change(other, { ...second, member }), QUIET]
    })
}

/** Columns are selected after a row was read without them. */
export function laterColumns({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  const without = fc.array(fc.nat(30), { minLength: 2, maxLength: 6 })
  return fc.record({ stream, pick, day, without }).map(({ stream, pick, day, without }): Step[] => {
    const insert: Change = { kind: 'insert', stream, pick, day, size: 'small' }
    return [
      { do: 'columns', stream, without },
      ...[{ do: 'change', change: insert } as const, QUIET],
      ...[{ do: 'columns', stream, without: [] } as const, QUIET],
    ]
  })
}

/** For a while the connector is of a version that does not know a field yet. */
export function olderVersion(others: fc.Arbitrary<Step>, { stream }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({ stream, field: fc.nat(30), meanwhile: fc.array(others, { maxLength: 2 }) })
    .map(({ stream, field, meanwhile }): Step[] => [
      { do: 'configure', setting: { set: 'personal_data', to: 'pseudonymised' } },
      { do: 'version', stream, field },
      ...[QUIET, ...meanwhile, QUIET],
      ...[{ do: 'version', stream, field: null } as const, QUIET],
    ])
}

/** A full refresh meets a continuation token that is dead, while rows come and go. */
export function deadRefresh({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      stream,
      pick,
      day,
      atRequest: fc.integer({ min: 2, max: 8 }),
      status: fc.constantFrom(400, 409, 410),
      kind: fc.constantFrom('update', 'remove', 'insert'),
      killAfter: fc.oneof(fc.constant(0), fc.integer({ min: 3, max: 20 })),
    })
    .map(({ stream, pick, day, atRequest, status, kind, killAfter }): Step[] => {
      const change: Change =
        kind === 'insert' ? { kind, stream, pick, day, size: 'small' } : { kind, stream, pick }
      const during: Sync['during'] = [
        { atRequest, event: { do: 'change', change } },
        { atRequest, event: { do: 'expire-continuations', status } },
      ]
      const turn: Step = { do: 'switch-mode', stream, isCleared: true }
      return [turn, { ...QUIET, during, killAfter, kept: 'everything' }, QUIET, turn]
    })
}

/** A job whose full refresh is cut off has further attempts, and things change between them, settings too. */
export function attempts(others: fc.Arbitrary<Step>, { stream }: Focus): fc.Arbitrary<Step[]> {
  const between = fc.array(fc.oneof(others, configure), { maxLength: 2 })
  return fc
    .record({ stream, killAfter: fc.integer({ min: 3, max: 40 }), first: between, second: between })
    .map(({ stream, killAfter, first, second }): Step[] => {
      const turn: Step = { do: 'switch-mode', stream, isCleared: true }
      const cut: Step = { ...QUIET, killAfter, kept: 'everything' }
      return [turn, cut, ...first, QUIET, ...second, QUIET, turn]
    })
}

/** A row that has been read vanishes, or moves, and is back behind the page that is being read. */
export function changedBehindPage(focus: Focus): fc.Arbitrary<Step[]> {
  return changesBehindPage(focus).map((during) => [QUIET, { ...QUIET, during }])
}

/** A large page breaks while it is emitted, and a row of it is gone when it is requested again. */
export function broken({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      stream,
      pick,
      day,
      path: fc.constantFrom('list', 'delta'),
      kind: fc.constantFrom('truncate', 'half-then-reset'),
      skip: fc.nat(1),
    })
    .map(({ stream, pick, day, skip, ...fault }) => {
      const insert = (size: Size): Step => ({
        do: 'change',
        change: { kind: 'insert', stream, pick, day, size },
      })
      const gone: Event = { do: 'change', change: { kind: 'remove', stream, pick } }
      const sync: Step = {
        ...QUIET,
        // The token, the pages before, the page itself, and then the page again.
        during: [{ atRequest: skip + 3, event: gone }],
        faults: [{ ...fault, stream, skip, times: 1 }],
      }
      return [insert('small'), insert('large'), sync]
    })
}

/** A sync dies in the middle of a reading, things change, and the next one continues. */
export function resumed(focus: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      killAfter: fc.integer({ min: 3, max: 14 }),
      kept: fc.constantFrom<Kept>('everything', 'committed'),
      changes: fc.array(events(focus), { maxLength: 3 }),
      setting: fc.option(gentle, { freq: 2 }),
    })
    .map(({ killAfter, kept, changes, setting }): Step[] => [
      { ...QUIET, killAfter, kept },
      ...changes,
      ...(setting === null ? [] : [{ do: 'configure', setting } as const]),
      QUIET,
    ])
}

/** A collection of references is refused for a few syncs, and back again. */
export function refused(focus: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      references: fc.constantFrom('people', 'people', 'jobs', 'work-locations', 'circles'),
      kind: fc.constantFrom(400, 404, 409),
      times: fc.constantFrom(1, 99),
      changes: fc.array(events(focus), { minLength: 1, maxLength: 3 }),
    })
    .map(({ references, kind, times, changes }) => {
      const fault: Fault = { kind, path: { references }, stream: 0, skip: 0, times }
      const sync: Step = { ...QUIET, faults: [fault] }
      return [QUIET, ...changes.flatMap((change) => [sync, change]), QUIET]
    })
}
