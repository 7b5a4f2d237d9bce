import { describe, expect, it } from 'vitest'
import {
  independentChanges,
  inOtherForm,
  planReferences,
  type ReferenceChange,
  targetOf,
} from './plan-references.ts'
import { changesOf, createLinks } from './service-cache.ts'

/** Links such as `A=1 B=2`. */
function linksOf(text: string, isComplete = true) {
  const listed = text.split(' ').flatMap((pair) => {
    const [value = '', id = ''] = pair.split('=')
    return value === '' ? [] : [{ value, id }]
  })
  return createLinks(listed, isComplete)
}

/** Changes such as `A=1 -B`: a minus deletes; `!` behind: it was requested before. */
function changesFrom(text: string): ReferenceChange[] {
  return text.split(' ').map((word, ordinal) => {
    const isAsked = word.endsWith('!')
    const [value = '', id] = word.replace(/[-!]/g, '').split('=')
    return { ordinal, value, id, isAsked }
  })
}

function plan(present: string, wanted: string, { relink = true, isComplete = true } = {}) {
  const start = changesOf(linksOf(present, isComplete))
  const changes = changesFrom(wanted)
  const { deletes, puts, refusals, settled } = planReferences({
    start,
    current: changesOf(start),
    changes,
    relink,
  })
  return {
    requests: [
      ...deletes.map(({ value }) => `-${value}`),
      ...puts.map(({ value, id, isRelink }) => `${value}=${id}${isRelink ? '*' : ''}`),
      ...refusals.map(({ value, id }) => `refused ${value}=${id}`),
    ].join(' '),
    settled: [...settled].map(([ordinal, { outcome }]) => `${ordinal} ${outcome}`).join(', '),
  }
}

/** The verdict on the first change if nothing has changed since the start. */
function verdictOn(present: string, wanted: string, relink = true) {
  const start = linksOf(present)
  const current = changesOf(start)
  return planReferences({ start, current, changes: changesFrom(wanted), relink }).settled.get(0)
}

/** The puts if this run has made some links, and has since removed those of some values. */
function putsOf(wanted: string, { listed = '', made = '', lost = '' }) {
  const start = linksOf(listed)
  for (const { value, id = '' } of made ? changesFrom(made) : []) start.link(value, id)
  const current = changesOf(start)
  if (lost !== '') current.unlink(lost)
  return planReferences({ start, current, changes: changesFrom(wanted), relink: true }).puts
}

describe('a plan', () => {
  it.each([
    ['A=1', 'A=1', '', '0 skipped'],
    ['', 'A=1', 'A=1', ''],
    ['A=1', 'A=2', '-A A=2*', ''],
    ['A=1', 'B=1', '-A B=1*', ''],
    ['A=1 B=2', 'A=2 B=1', '-A -B A=2* B=1*', ''],
    ['A=1', '-A', '-A', ''],
    ['A=1', '-B', '-B', ''],
    ['A=1', '-B!', '', ''],
    ['', 'A=1 A=2', 'A=2', '0 skipped'],
    ['', 'A=1 B=1', 'B=1', '0 skipped'],
    ['A=1', '-A A=1', '', '0 skipped, 1 skipped'],
    ['A=1', 'A=1 -A', '-A', '0 skipped'],
  ])('from %j by %j requests %j, and settles %j', (present, wanted, requests, settled) => {
    expect(plan(present, wanted)).toEqual({ requests, settled })
  })

  it.each([
    ['A=1', 'A=2', 'refused A=2', '0 rejected'],
    ['A=1', 'B=1', '', '0 rejected'],
    ['A=1', '-A B=1', '-A B=1*', ''],
    ['', 'A=1', 'A=1', ''],
    ['A=1', 'A=1', '', '0 skipped'],
  ])('from %j by %j with relink off requests %j', (present, wanted, requests, settled) => {
    expect(plan(present, wanted, { relink: false })).toEqual({ requests, settled })
  })

  it('has a refused put as it was wanted, so that the service can say why', () => {
    const start = linksOf('A=1')
    const input = { start, current: changesOf(start), changes: changesFrom('A=2') }
    expect(planReferences({ ...input, relink: false }).refusals).toEqual([
      { value: 'A', id: '2', ordinal: 0, isRelink: false },
    ])
  })

  const replaced = 'A later record with the same value or the same internalReference counts.'
  it.each([
    ['A=1', 'A=1', { outcome: 'skipped' }],
    ['', 'A=1 A=1', { outcome: 'skipped', reason: 'A later record has the same values.' }],
    ['', 'A=1 A=2', { outcome: 'skipped', reason: replaced, replaced: true }],
    ['', 'A=1 B=1', { outcome: 'skipped', reason: replaced, replaced: true }],
  ])('from %j by %j settles the first change as %j', (present, wanted, verdict) => {
    expect(verdictOn(present, wanted)).toEqual(verdict)
  })

  it.each([
    ['A=2', 'The value is linked to another internalReference, and relink is off.'],
    [
      'B=1',
      'The record with this internalReference has another value under this name, and relink is off.',
    ],
  ])('from A=1 by %j with relink off rejects it: %s', (wanted, reason) => {
    expect(verdictOn('A=1', wanted, false)).toEqual({ outcome: 'rejected', reason })
  })

  it.each([
    ['a new link', 'A=1', {}, { isRelink: false }],
    ['a moved value', 'A=2', { listed: 'A=1' }, { isRelink: true, takenFrom: '1' }],
    ['another value of a record', 'B=1', { listed: 'A=1' }, { isRelink: true }],
    [
      'a value that this run has linked',
      'A=2',
      { made: 'A=1' },
      { isRelink: true, takenFrom: '1', replaces: true },
    ],
    [
      'another value of a record that this run has linked',
      'B=1',
      { made: 'A=1' },
      { isRelink: true, replaces: true },
    ],
    ['a link that was removed meanwhile', 'A=1', { made: 'A=1', lost: 'A' }, { isRelink: false }],
  ])('says what the put of %s takes from whom', (_, wanted, links, facts) => {
    const [{ value, id } = { value: '', id: '' }] = changesFrom(wanted)
    expect(putsOf(wanted, links)).toStrictEqual([{ value, id, ordinal: 0, ...facts }])
  })

  it('puts what a list that cannot be read does not show', () => {
    expect(plan('', 'A=1 -B', { isComplete: false }).requests).toBe('-B A=1')
  })
})

it('the target is what the links are after all changes', () => {
  const changes = changesFrom('A=2 -B')
  const target = targetOf({ start: linksOf('A=1 B=3'), changes, relink: true })
  expect(['A', 'B'].map(target.idOf)).toEqual(['2', undefined])
})

it.each([
  ['', 'A=1 B=2', ['A', 'B']],
  ['', 'A=1 B=1', ['A B']],
  ['A=1', 'A=2 B=1', ['A B']],
  ['A=1 B=2', 'C=1 A=2', ['C A']],
  // A value that was moved while its list was read is listed twice.
  ['A=1 A=2', 'C=1 A=3', ['C A']],
  ['', 'a=1 A=2', ['a A']],
  ['', 'A=1 B=2 -C', ['A', 'B', 'C']],
])('with %j, the changes %j are the independent groups %j', (present, wanted, groups) => {
  const found = independentChanges(changesFrom(wanted), linksOf(present))
  expect(found.map((group) => group.map(({ value }) => value).join(' '))).toEqual(groups)
})

it.each([
  ['', 'A=1 a=2', [1]],
  ['', 'A=1 A=2', []],
  ['a=1', 'A=1', [0]],
  ['a=1', 'A=1 a=2', [0, 1]],
  ['a=1', '-a A=1', []],
  ['a=1', '-A', []],
  ['a=1 A=2', 'A=1 a=2', []],
  ['a=1 A=2', 'A=1 a=2 á=3', []],
])('with %j, the changes %j are in another form: %j', (present, wanted, ordinals) => {
  expect([...inOtherForm(changesFrom(wanted), linksOf(present))]).toEqual(ordinals)
})
