import { describe, expect, it } from 'vitest'
import {
  independentChanges,
  inOtherForm,
  planReferences,
  type ReferenceChange,
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
  ])('from %j by %j with relink off requests %j', (present, wanted, requests, settled) => {
    expect(plan(present, wanted, { relink: false })).toEqual({ requests, settled })
  })

  it('puts what a list that cannot be read does not show', () => {
    expect(plan('', 'A=1 -B', { isComplete: false }).requests).toBe('-B A=1')
  })
})

it.each([
  ['', 'A=1 B=2', ['A', 'B']],
  ['', 'A=1 B=1', ['A B']],
  ['A=1', 'A=2 B=1', ['A B']],
  ['A=1 B=2', 'C=1 A=2', ['C A']],
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
