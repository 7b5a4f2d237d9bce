import fc from 'fast-check'
import { events, type Focus, inserts } from './arbitrary-events.ts'
import { type Change, type Event, QUIET, type Step, type Sync } from './history.ts'

/** A day of which no answer is right, before and after all that a connector may take for one. */
const farDays = fc.constantFrom('2150-01-01T00:00:00Z', '1970-01-01T00:00:00Z')

/**
 * Rows change while a list is read that has had them, as they do where many people work: many are only updated, or some
 * leave, move and come as well.
 */
export function editsOfReadRows({ stream, day }: Focus): fc.Arbitrary<Sync['during']> {
  const pick = fc.nat(7)
  const isRead = fc.constant(true as const)
  const one = <K extends Change['kind']>(kind: K) => ({ kind: fc.constant(kind), stream, pick })
  const update = fc.record({ ...one('update'), isRead })
  const any: fc.Arbitrary<Change> = fc.oneof(
    update,
    fc.record({ ...one('move'), isRead, day }),
    fc.record({ ...one('remove'), isRead }),
    fc.record({ ...one('soft-delete'), isRead }),
    fc.record({ ...one('insert'), day, size: fc.constant('small' as const) }),
  )
  const edits = (change: fc.Arbitrary<Change>) => {
    // After the token and the first page.
    const atRequest = fc.integer({ min: 3, max: 9 })
    const event = change.map((change): Event => ({ do: 'change', change }))
    return fc.array(fc.record({ atRequest, event }), { minLength: 1, maxLength: 6 })
  }
  return fc.oneof(edits(update), edits(any))
}

/** A stream is read, or read anew, and its rows change meanwhile. */
export function editedReadings(focus: Focus): fc.Arbitrary<Step[]> {
  const edited = editsOfReadRows(focus).map((during): Step => ({ ...QUIET, during }))
  const cut = fc
    .tuple(editsOfReadRows(focus), fc.integer({ min: 3, max: 20 }))
    .map(([during, killAfter]): Step[] => [{ ...QUIET, during, killAfter }, QUIET])
  const part: fc.Arbitrary<Step[]> = fc.oneof(
    { weight: 2, arbitrary: edited.map((sync) => [sync]) },
    // The delta has ended, so that it begins anew.
    { weight: 4, arbitrary: edited.map((sync): Step[] => [{ do: 'advance', hours: 80 }, sync]) },
    { weight: 2, arbitrary: fc.array(events(focus), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: cut },
  )
  return fc
    .tuple(edited, fc.array(part, { maxLength: 4 }))
    .map(([first, parts]) => [first, ...parts.flat()])
}

/** What has been read is undone, and no delta tells of it; maybe after an audit has seen it. */
export function reverted(focus: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      stream: focus.stream,
      changes: fc.integer({ min: 1, max: 5 }),
      undone: fc.array(fc.oneof(inserts(focus), updates(focus)), { minLength: 1, maxLength: 5 }),
      isAudited: fc.boolean(),
    })
    .map(({ stream, changes, undone, isAudited }): Step[] => [
      QUIET,
      ...(isAudited ? audit : []),
      ...undone.map((change): Step => ({ do: 'change', change })),
      QUIET,
      { do: 'revert', stream, changes },
      QUIET,
    ])
}

function updates({ stream, pick }: Focus): fc.Arbitrary<Change> {
  return fc.record({ kind: fc.constantFrom('update', 'remove'), stream, pick })
}

const audit: readonly Step[] = [
  { do: 'configure', setting: { set: 'audit_days', to: 1 } },
  { do: 'advance', hours: 25 },
  QUIET,
]

/** For a sync or two that are to audit, the service refuses the lists of any stream, whose delta may work. */
export function refusedLists(): fc.Arbitrary<Step[]> {
  const kind = fc.constantFrom(400, 403, 404, 405, 409, 414, 500)
  return fc
    .record({
      fault: fc.record({
        kind,
        path: fc.constant('whole-list' as const),
        stream: fc.nat(2),
        skip: fc.constantFrom(0, 0, 1),
        times: fc.constantFrom(1, 99),
      }),
      isAgain: fc.boolean(),
    })
    .map(({ fault, isAgain }): Step[] => {
      const refused: Sync = { ...QUIET, faults: [fault] }
      return [QUIET, ...audit.slice(0, 2), refused, ...(isAgain ? [refused] : []), QUIET]
    })
}

/** For a sync or two the service does not know what day it is. */
export function farDates(syncs: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> {
  return fc
    .record({ to: farDays, meanwhile: fc.array(syncs, { minLength: 1, maxLength: 2 }) })
    .map(({ to, meanwhile }): Step[] => [
      { do: 'date', to },
      ...meanwhile,
      { do: 'date', to: undefined },
      QUIET,
    ])
}
