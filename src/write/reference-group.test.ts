import { describe, expect, it } from 'vitest'
import {
  commit,
  createReferenceGroup,
  isWritten,
  noteLink,
  noteSettled,
  refuse,
  remainingOf,
} from './reference-group.ts'
import { createLinks } from './service-cache.ts'

const links = () => createLinks([{ value: 'A', id: '1' }], true)
const group = (base = links()) => createReferenceGroup([{ ordinal: 0, value: 'A', id: '2' }], base)
const recordOf = (one: ReturnType<typeof group>) => {
  const record = one.records.get(0)
  if (record === undefined) throw new Error('There is no record.')
  return record
}

it('a group begins with every record to be planned, and nothing requested', () => {
  const one = group()
  const record = { ordinal: 0, value: 'A', id: '2', isAsked: false, isReread: false }
  expect(remainingOf(one)).toEqual([{ ...record, isRefused: false, verdict: undefined }])
  expect([one.isPlanOutdated, one.isUncertain]).toEqual([true, false])
  expect(isWritten(recordOf(one))).toBe(false)
})

describe('what a group notes', () => {
  it.each([
    ['the same link', 'A', '1', false, '1'],
    ['another link', 'A', '3', true, '3'],
    ['no link', 'A', undefined, true, undefined],
    ['no link of a value that was put, and was not known before', 'B', undefined, true, undefined],
    ['a link that was not known', 'B', '3', true, '3'],
  ])('of %s outdates the plan only if it differs', (_, value, id, isNew, now) => {
    const one = group()
    one.isPlanOutdated = false
    expect(noteLink(one, value, id)).toBe(isNew)
    expect([one.isPlanOutdated, one.start.idOf(value), one.current.idOf(value)]).toEqual([
      isNew,
      now,
      now,
    ])
  })

  it('of a value that it has freed itself is nothing new', () => {
    const one = group()
    one.lostFor.set('A', recordOf(one))
    one.current.unlink('A')
    expect([noteLink(one, 'A', undefined), one.start.idOf('A')]).toEqual([false, '1'])
  })

  it('reaches the links of all groups when it is committed', () => {
    const base = links()
    const one = group(base)
    one.current.link('A', '2')
    expect(base.idOf('A')).toBe('1')
    commit(one)
    expect([base.idOf('A'), base.valueOfId('1')]).toEqual(['2', undefined])
  })
})

describe('a record', () => {
  it('that is refused is left out of later plans', () => {
    const one = group()
    refuse(one, recordOf(one), { outcome: 'rejected', reason: 'no' })
    expect([remainingOf(one), one.isPlanOutdated]).toEqual([[], true])
  })

  it.each([
    [undefined, { outcome: 'skipped' }, { outcome: 'skipped' }],
    [{ outcome: 'written' }, { outcome: 'skipped' }, { outcome: 'written' }],
    [{ outcome: 'deleted' }, { outcome: 'skipped' }, { outcome: 'deleted' }],
    [
      { outcome: 'written' },
      { outcome: 'skipped', replaced: true },
      { outcome: 'written', replaced: true },
    ],
    [{ outcome: 'skipped' }, { outcome: 'rejected' }, { outcome: 'rejected' }],
  ] as const)('with the verdict %j that is settled as %j has %j', (before, settled, after) => {
    const one = group()
    recordOf(one).verdict = before
    noteSettled(one, new Map([[0, settled]]))
    expect(recordOf(one).verdict).toEqual(after)
    expect(isWritten(recordOf(one))).toBe(/written|deleted/.test(after.outcome))
  })
})
