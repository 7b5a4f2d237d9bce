import { describe, expect, it } from 'vitest'
import { applyReferences, type ReferenceTools, restoreMoves } from './apply-references.ts'
import { createJournal, type Journal, type Move } from './journal.ts'
import type { Verdict } from './outcome.ts'
import type { ReferenceChange } from './plan-references.ts'
import { createLinks, type ServiceCache } from './service-cache.ts'
import { createTaskPool } from './task-pool.ts'
import { refused } from './testing/fake-requests.ts'
import { cases, scripted } from './testing/scripted.ts'

/** Links such as `A=1 B=2`. */
function linksFrom(text: string): [string, string][] {
  const pairs = text.split(' ').filter((pair) => pair !== '')
  return pairs.map((pair) => pair.split('=') as [string, string])
}

/** Changes such as `A=1 -B`: a minus deletes. */
function changesFrom(text: string): ReferenceChange[] {
  return text.split(' ').map((word, ordinal) => {
    const [value = '', id] = word.replace('-', '').split('=')
    return { ordinal, value, id }
  })
}

/**
 * A service that refuses a link as long as its value or its record has another one. The answers to some of its requests are
 * given, such as `put A=1: ok 400; get A: =3`: a status refuses it, `lost` is no answer to its first attempt, with `done` it
 * does it whatever it has, and `=3` is the id that is found, `=?` one that cannot be read.
 */
function serviceWith(links: string, answers: string) {
  const stored = new Map(linksFrom(links))
  const { asked, note, answer: answerOf } = scripted(answers)
  let [running, parallel] = [0, 0]
  const answerTo = async (request: string, onUncertain?: () => void) => {
    note(request)
    parallel = Math.max(parallel, ++running)
    await Promise.resolve()
    running--
    const answer = answerOf(request)
    if (answer === 'lost') onUncertain?.()
    return answer
  }
  const references = {
    get: async (_: string, __: string, value: string) => {
      const answer = await answerTo(`get ${value}`)
      const id = answer.startsWith('=') ? answer.slice(1) : stored.get(value)
      return id === undefined ? undefined : { value, internalReference: id === '?' ? null : id }
    },
    put: async (link: { value: string; internalReference: string }, options?: Options) => {
      const { value, internalReference: id } = link
      const answer = await answerTo(`put ${value}=${id}`, options?.onUncertain)
      const isTaken = [...stored].some(([other, record]) => (other === value) !== (record === id))
      if (isTaken && answer !== 'done') throw refused('It is linked.', 400)
      for (const [other, record] of stored) if (record === id) stored.delete(other)
      stored.set(value, id)
    },
    remove: async (_: string, __: string, value: string, options?: Options) => {
      const answer = await answerTo(`delete ${value}`, options?.onUncertain)
      if (answer === 'done') return 'deleted'
      const found = [...stored.keys()].find((one) => one.toLowerCase() === value.toLowerCase())
      return found !== undefined && stored.delete(found) ? 'deleted' : 'absent'
    },
  }
  const client = { references } as unknown as ReferenceTools['client']
  const has = () =>
    [...stored]
      .map((link) => link.join('='))
      .toSorted()
      .join(' ')
  return { asked, client, has, parallel: () => parallel }
}

interface Options {
  readonly onUncertain?: () => void
}

interface Given {
  readonly relink?: boolean
  readonly dryRun?: boolean
  /** Whether the service lists its links. */
  readonly isListed?: boolean
  /** The links that the service has and does not list. */
  readonly hidden?: string
  readonly path?: string
}

/** A journal that tells which links it notes, and when it forgets them. */
function toldJournal(asked: string[], left: readonly Move[] = [], path?: string): Journal {
  const journal = createJournal(left)
  return {
    path,
    get entries() {
      return journal.entries
    },
    async add(entry) {
      const { old } = entry as Move
      asked.push(`note ${old.map((link) => link.join('=')).join(' ')}`)
      await journal.add(entry)
    },
    async remove(entry) {
      asked.push('forget')
      await journal.remove(entry)
    },
  }
}

/** Applies the changes to a service with these links, and says what was asked for and what is told of each change. */
async function applied(start: string, wanted: string, answers = '', given: Given = {}) {
  const { relink = true, dryRun = false, isListed = true, hidden = '', path } = given
  const { asked, client, has, parallel } = serviceWith(`${start} ${hidden}`, answers)
  const verdicts = new Map<number, Verdict>()
  const { signal } = new AbortController()
  const listed = linksFrom(start).map(([value, id]) => ({ value, id }))
  const tools = {
    client,
    signal,
    journal: toldJournal(asked, [], path),
    collection: 'people',
    name: 'hr',
    links: createLinks(listed, isListed),
    settings: { relink, dryRun },
    pool: createTaskPool(2, signal),
    time: { sleep: async (ms: number) => void asked.push(`wait ${ms}`) },
    settle: (ordinal: number, verdict: Verdict) => void verdicts.set(ordinal, verdict),
  } as unknown as ReferenceTools
  const error: unknown = await applyReferences(changesFrom(wanted), tools).catch((one) => one)
  const all = [...verdicts].toSorted(([a], [b]) => a - b)
  const told = all.map(([ordinal, verdict]) => `${ordinal} ${inWords(verdict)}`).join(', ')
  const reasons = all.map(([, { reason }]) => reason)
  return { requests: asked.join(', '), told, reasons, has: has(), parallel: parallel(), error }
}

function inWords({ outcome, relinked, takenFrom, replaces, status }: Verdict): string {
  const facts = [relinked && 'relinked', takenFrom && `from ${takenFrom}`, replaces && 'replaces']
  return [outcome, status, ...facts].filter((one) => one).join(' ')
}

const MOVE = 'put A=2, put A=1, note A=1, delete A, put A=2'

describe('a change of links', () => {
  it.each(
    cases(`
    puts a new link                                  |     | A=1 | | put A=1 | 0 written
    asks for nothing that is there                   | A=1 | A=1 | | | 0 skipped
    puts several links                               |     | A=1 B=2 | | put A=1, put B=2 | 0 written, 1 written
    may be refused alone                             |     | A=1 B=2 | put A=1: 404 | put A=1, put B=2 | 0 rejected 404, 1 written
    moves a value                                    | A=1 | A=2 | | ${MOVE}, forget | 0 written relinked from 1
    moves a value without a delete                   | A=1 | A=2 | put A=2: done | put A=2 | 0 written relinked from 1
    gives a record another value                     | A=1 | B=1 | | put B=1, put A=1, note A=1, delete A, put B=1, forget | 0 written relinked
    swaps two values                                 | A=1 B=2 | A=2 B=1 | | put A=2, put B=1, put A=1, put B=2, note A=1 B=2, delete A, delete B, put A=2, put B=1, forget | 0 written relinked from 1, 1 written relinked from 2
    deletes nothing for a record that does not exist | A=1 | A=2 | put A=2: 404 | put A=2 | 0 rejected 404
    deletes nothing for a record without access      | A=1 | A=2 | put A=2: 403 | put A=2 | 0 rejected 403
    deletes nothing that could not be restored       | A=1 | A=2 | put A=1: 403 | put A=2, put A=1 | 0 rejected 403
    deletes the link of a record that is gone        | A=1 | A=2 | put A=1: 404 | put A=2, put A=1, delete A, put A=2 | 0 written relinked from 1
    puts nothing whose delete was refused            | A=1 | A=2 | delete A: 403 | put A=2, put A=1, note A=1, delete A, forget | 0 rejected 403
    restores the link if the new one is refused      | A=1 | A=2 | put A=2: 400 400 | ${MOVE}, get A, put A=1, forget | 0 rejected 400
    does not look for the reason of 404              | A=1 | A=2 | put A=2: 400 404 | ${MOVE}, put A=1, forget | 0 rejected 404
    leaves what others have linked meanwhile         | A=1 | A=2 | put A=2: 400 404; put A=1: ok 400; get A: =3 | ${MOVE}, put A=1, get A, forget | 0 rejected 404
    restores no link of a record that is gone        | A=1 | A=2 | put A=1: 404 404; put A=2: 400 404 | put A=2, put A=1, delete A, put A=2, put A=1, get A | 0 rejected 404
    deletes a value                                  | A=1 | -A  | | delete A | 0 deleted
    deletes a value that is not listed               |     | -A  | | delete A | 0 absent
    may be a delete that is refused                  | A=1 | -A  | delete A: 403 | delete A | 0 rejected 403
    looks again at another form of a deleted value   | a=1 | -A  | | delete A, get a | 0 deleted
  `),
  )('%s', async (_, start, wanted, answers, requests, told) => {
    const { error, ...all } = await applied(start, wanted, answers)
    expect(all).toMatchObject({ requests, told })
    expect(error).toBeUndefined()
  })

  it.each(
    cases(`
    knows what is absent                |     | -A  | | get A | 0 absent
    knows what is there                 |     | -A  | get A: =1; delete A: done | get A, delete A | 0 deleted
    believes the list                   | A=1 | -A  | | delete A | 0 deleted
    looks at no other form of the value | a=1 | -A  | get A: =1 | get A, delete A | 0 deleted
    neither asks nor notes anything     | A=1 | A=2 | put A=2: done | delete A, put A=2 | 0 written relinked from 1
  `),
  )('in a dry run %s', async (_, start, wanted, answers, requests, told) => {
    const given = { dryRun: true }
    expect(await applied(start, wanted, answers, given)).toMatchObject({ requests, told })
  })

  it.each(
    cases(`
    is refused by the service in its own words | A=1 | A=2 | | put A=2 | 0 rejected 400
    puts what is free                          | A=1 | B=2 | | put B=2 | 0 written
    does not look who has a value              |     | A=2 | put A=2: 400 | put A=2 | 0 rejected 400
  `),
  )('with relink off %s', async (_, start, wanted, answers, requests, told) => {
    const off = { relink: false }
    expect(await applied(start, wanted, answers, off)).toMatchObject({ requests, told })
  })

  it('with relink off is refused in a dry run without a request', async () => {
    const given = { relink: false, dryRun: true }
    expect(await applied('A=1', 'A=2', '', given)).toMatchObject({
      requests: '',
      told: '0 rejected',
    })
  })

  it.each(
    cases(`
    moves a value that turns out to be linked       | | A=2 | | put A=2, get A, put A=1, note A=1, delete A, put A=2, forget | 0 written relinked from 1
    is refused if nobody says who has the value     | | A=2 | get A: =? | put A=2, get A | 0 rejected 400
    is refused if that question is refused          | | A=2 | get A: 403 | put A=2, get A | 0 rejected 400
    looks once                                      | | A=2 | put A=2: 400 400 | put A=2, get A, put A=1, note A=1, delete A, put A=2, put A=1, forget | 0 rejected 400
  `),
  )('whose link is not listed %s', async (_, start, wanted, answers, requests, told) => {
    const given = { hidden: 'A=1', isListed: false }
    expect(await applied(start, wanted, answers, given)).toMatchObject({ requests, told })
  })

  it.each(
    cases(`
    is written if the service has it                |     | A=1 | put A=1: lost | put A=1, wait 10000, get A | 0 written
    is deleted if the service has it no more        | B=2 | -B  | delete B: lost | delete B, wait 10000, get B | 0 deleted
    is unknown if the service has another one       |     | A=1 | put A=1: lost; get A: =3 | put A=1, wait 10000, get A | 0 unknown
    is unknown if the service does not say          |     | A=1 | put A=1: lost; get A: =? | put A=1, wait 10000, get A | 0 unknown
    leaves others as they are                       |     | A=1 C=3 | put A=1: lost; get A: =4 | put A=1, put C=3, wait 10000, get A | 0 unknown, 1 written
    concerns all that wanted the record             |     | A=1 C=1 | put C=1: lost; get C: =4 | put C=1, wait 10000, get A, get C | 0 unknown, 1 unknown
    leaves those of its group that the service has  | A=1 | A=2 B=1 | put B=1: 400 lost; get B: =5 | put A=2, put B=1, put A=1, note A=1, delete A, put A=2, put B=1, forget, wait 10000, get A, get B | 0 written relinked from 1, 1 unknown
  `),
  )('without a certain answer %s', async (_, start, wanted, answers, requests, told) => {
    expect(await applied(start, wanted, answers)).toMatchObject({ requests, told })
  })

  it.each([
    ['moved', 'A=1', 'A=2', '', 'A=2'],
    ['not moved', 'A=1', 'A=2', 'put A=2: 400 404', 'A=1'],
    ['swapped', 'A=1 B=2', 'A=2 B=1', '', 'A=2 B=1'],
    ['deleted', 'A=1 B=2', '-A', '', 'B=2'],
  ])('ends with the links that it has %s', async (_, start, wanted, answers, has) => {
    expect((await applied(start, wanted, answers)).has).toBe(has)
  })

  it.each([
    ['parallel', true, 2],
    ['one after another, because it is unknown whether they are independent', false, 1],
  ])('requests what is independent %s', async (_, isListed, parallel) => {
    expect(await applied('', 'A=1 B=2', '', { isListed })).toMatchObject({ parallel })
  })

  it.each([
    [
      'could not be restored',
      'put A=1: 403',
      /could not be restored, and nothing was deleted: No, 403\.$/,
    ],
    ['has another link', 'put A=2: lost; get A: =9', /another link now than was requested last/],
  ])('says why it is not written if a link %s', async (_, answers, reason) => {
    const { reasons } = await applied(answers.includes('lost') ? '' : 'A=1', 'A=2', answers)
    expect(reasons).toEqual([expect.stringMatching(reason)])
  })

  it.each([
    ['', undefined],
    [' It is in the journal /j.', '/j'],
  ])('writes no more references if a deleted link cannot be restored.%s', async (where, path) => {
    const answers = 'put A=1: ok 400; put A=2: 400 404'
    const { error, told, requests, reasons } = await applied('A=1', 'A=2', answers, {
      ...(path && { path }),
    })
    expect(error).toMatchObject({ failure: 'system', id: 'links-not-restored' })
    expect(error).toMatchObject({ message: expect.stringContaining(`are written.${where} Start`) })
    expect([requests, told]).toEqual([`${MOVE}, put A=1, get A`, '0 rejected 404'])
    expect(reasons).toEqual([
      'No, 404. The link that it replaced was deleted and could not be restored.',
    ])
  })

  it.each([
    ['tells what was done', 'A=1 B=2', 'put B=2: 500', '0 written'],
    ['tells nothing that is uncertain', 'A=1 A=2', 'put A=2: lost; get A: 500', ''],
    ['tells what was refused in the same group', 'A=1 A=2 B=2', 'put B=2: 500', ''],
  ])('that fails as a whole %s', async (_, wanted, answers, told) => {
    expect(await applied('', wanted, answers)).toMatchObject({ told, error: { status: 500 } })
  })
})

describe('links that an earlier run has deleted', () => {
  it.each(
    cases(`
    are put again                           | A=1     |         |     | get A, put A=1, forget | A=1
    are put one after another               | A=1 B=2 |         |     | get A, get B, put A=1, put B=2, forget | A=1 B=2
    are put for one value of a record       | A=1 B=1 |         |     | get A, get B, put A=1, forget | A=1
    are left if the value has a record      | A=1     | A=2     | A=2 | get A, get A, forget | A=2
    are left if the record has a new value  | A=1     | B=1     | B=1 | get A, get B, forget | B=1
    are left if the list has another value  | A=1     |         | C=1 | get A, forget | C=1
    are replaced as they were to be         | A=1     | A=2 B=1 | B=1 | get A, get A, get B, put A=2, forget | A=2 B=1
  `),
  )('%s', async (_, old, wanted, present, requests, has) => {
    const restored = await restoredFrom(old, wanted, present)
    const done = { entries: 0, forgotten: ['people hr'], error: undefined }
    expect(restored).toEqual({ requests, has, ...done })
  })

  it.each([
    [
      'linked by others meanwhile',
      '',
      '',
      'put A=1: 400; get A: ok =3',
      'get A, put A=1, get A, forget',
    ],
    [
      'refused to its new record',
      'A=2 B=1',
      'B=1',
      'put A=2: 404',
      'get A, get A, get B, put A=2, forget',
    ],
    ['of a record that is gone', '', '', 'put A=1: 404', 'get A, put A=1, forget'],
  ])('may be %s', async (_, wanted, present, answers, requests) => {
    const restored = await restoredFrom('A=1', wanted, present, answers)
    expect(restored).toMatchObject({ requests, entries: 0, error: undefined })
  })

  it.each([
    ['if the service refuses them', 'put A=1: 400', 'get A, put A=1, get A'],
    ['if the service does not say who has the value', 'get A: =?', 'get A'],
    [
      'if the service knows neither them nor a list',
      'put A=1: 404',
      'get A, put A=1, get A',
      false,
    ],
  ])('stay in the journal %s', async (_, answers, requests, isListed = true) => {
    const restored = await restoredFrom('A=1', '', '', answers, isListed)
    const error = { id: 'links-not-restored' }
    expect(restored).toMatchObject({ requests, entries: 1, forgotten: [], error })
  })
})

/** Restores links with a service that has others. */
async function restoredFrom(
  old: string,
  wanted: string,
  present: string,
  answers = '',
  isListed = true,
) {
  const { asked, client, has } = serviceWith(present, answers)
  const names = { kind: 'move', collection: 'people', name: 'hr' } as const
  const move: Move = { ...names, old: linksFrom(old), wanted: linksFrom(wanted) }
  const journal = toldJournal(asked, [move])
  const listed = linksFrom(present).map(([value, id]) => ({ value, id }))
  const forgotten: string[] = []
  const cache = {
    links: async () => createLinks(listed, isListed),
    forget: (...which: string[]) => void forgotten.push(which.join(' ')),
  } as unknown as ServiceCache
  const error: unknown = await restoreMoves(client, cache, journal).catch((one) => one)
  const entries = journal.entries.length
  return { requests: asked.join(', '), has: has(), entries, forgotten, error }
}
