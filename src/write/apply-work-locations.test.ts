import { describe, expect, it } from 'vitest'
import { ClientError } from '../client/client-error.ts'
import type { CallOptions, WorkLocation, WorkLocationBody } from '../client/service-client.ts'
import { statusIs } from '../http/status.ts'
import { applyWorkLocations } from './apply-work-locations.ts'
import { createJournal, type PendingCreation } from './journal.ts'
import type { ObjectTools } from './object-tools.ts'
import type { Verdict } from './outcome.ts'
import type { WantedNamed } from './read-record.ts'
import { createServiceCache } from './service-cache.ts'
import { refused } from './testing/fake-requests.ts'
import { cases, scripted } from './testing/scripted.ts'
import type { WriteClient } from './write-client.ts'

/** The work locations of a service, such as `7:North/Main=N1`: an id, a name, a description and the value of a reference. */
function locationsFrom(text: string) {
  return text.split(' ').flatMap((one) => {
    const [, id = '', name = '', description, value] =
      /^(\d+):(\w+)(?:\/(\w+))?(?:=(\w+))?$/.exec(one) ?? []
    return id === '' ? [] : [{ value, location: bodyOf(name, description, id) }]
  })
}

function bodyOf(name: string, description: string | undefined, id: string): WorkLocation {
  return { id, name: { default: name }, ...(description !== undefined && { description }) }
}

/** Records such as `N1:North/Main`, which name a reference, or `#7:North=N1`, which name an id and perhaps a reference. */
function wantedFrom(text: string): { ordinal: number; wanted: WantedNamed }[] {
  return text.split(' ').map((one, ordinal) => {
    const [, key = '', defaultName, description, also] =
      /^(#?\w+):(\w*)(?:\/(\w+))?(?:=(\w+))?$/.exec(one) ?? []
    const reference = (value: string) => ({ name: 'erp', value })
    const wanted = {
      key: key.startsWith('#') ? { id: key.slice(1) } : reference(key),
      also: also === undefined ? [] : [reference(also)],
      defaultName,
      translations: undefined,
      text: description,
    }
    return { ordinal, wanted }
  })
}

/**
 * A service that does what it is asked for. The answers to some of its requests are given, such as `create North: lost; get
 * N1: =3`: a status refuses it; a creation that is `lost` has no answer and no effect, one that is `done` has an effect and no
 * answer, `twice` two of them, `+409` an effect although that is the answer, and with `unnamed` the answer lacks the id; a
 * reference that is `lost` or `done` is answered without a confirmation; `=3` is the id that is found, `=?` one that cannot
 * be read.
 */
function serviceWith(has: string, answers: string, isListed: boolean) {
  const present = locationsFrom(has)
  const locations = new Map(present.map(({ location }) => [location.id, location]))
  const links = new Map(
    present.flatMap(({ value, location }) => (value ? [[value, location.id]] : [])),
  )
  const { asked, note, answer } = scripted(answers)
  const answerTo = (request: string) => {
    note(request)
    return answer(request)
  }
  const add = (body: WorkLocationBody) => {
    const id = String(100 + locations.size)
    locations.set(id, { ...body, id })
    return { id }
  }
  const client = {
    references: {
      async *list() {
        if (!isListed) throw refused('No list.', 404)
        for (const [value, internalReference] of links)
          yield { name: 'erp', value, internalReference }
      },
      async get(_: string, __: string, value: string) {
        const answer = answerTo(`get ${value}`)
        const id = answer.startsWith('=') ? answer.slice(1) : links.get(value)
        return id === undefined ? undefined : { internalReference: id === '?' ? null : id }
      },
      async put(
        { value, internalReference: id }: { value: string; internalReference: string },
        { onUncertain }: CallOptions = {},
      ) {
        const answer = answerTo(`put ${value}=${id}`)
        if (answer !== 'lost') links.set(value, id)
        if (answer !== 'ok') onUncertain?.()
      },
    },
    workLocations: {
      async *list() {
        answerTo('list')
        yield* [...locations.values()]
      },
      async create(body: WorkLocationBody) {
        const answer = answerTo(`create ${body.name.default}`)
        if (answer === 'ok') return add(body)
        if (answer !== 'lost') add(body)
        if (answer === 'twice') add(body)
        if (answer === 'unnamed') return {}
        const status = Number(answer)
        if (status > 0) throw refused('No.', status, !statusIs(status, 'nothing done'))
        const facts = { mayHaveHappened: true, ...(answer === 'done' && { status: 502 }) }
        throw new ClientError('transient', 'x-test', 'No answer.', facts)
      },
    },
  }
  return { asked, locations, client: client as unknown as WriteClient }
}

interface Given {
  readonly dryRun?: boolean
  readonly isListed?: boolean
  /** Where the journal is; undefined if it ends with the process. */
  readonly path?: string | undefined
  /** The names of work locations that an earlier run has requested. */
  readonly earlier?: readonly string[]
}

/** Writes the records, and says what was asked for and what is told of each. */
async function applied(has: string, wanted: string, answers = '', given: Given = {}) {
  const { dryRun = false, isListed = true, earlier = [] } = given
  const path = 'path' in given ? given.path : '/journal'
  const { asked, locations, client } = serviceWith(has, answers, isListed)
  const noted = earlier.map(
    (name) => ({ kind: 'creation', reference: 'erp', value: name, name }) as const,
  )
  const journal = createJournal(noted)
  const verdicts: Verdict[] = []
  const tools = {
    client,
    cache: createServiceCache(client),
    journal: {
      path,
      get entries() {
        return journal.entries
      },
      add(entry: PendingCreation) {
        asked.push(`note ${entry.name}`)
        return journal.add(entry)
      },
      remove(entry: PendingCreation) {
        asked.push(`forget ${entry.name}`)
        return journal.remove(entry)
      },
    },
    settings: { dryRun },
    time: { sleep: async (ms: number) => void asked.push(`wait ${ms}`) },
    signal: new AbortController().signal,
    settle: (_: number, verdict: Verdict) => void verdicts.push(verdict),
  } as unknown as ObjectTools
  const error: unknown = await applyWorkLocations(wantedFrom(wanted), tools).catch((one) => one)
  const told = verdicts
    .map(({ outcome, status, ids = [] }) =>
      [outcome, status, ...ids].filter((one) => one !== undefined).join(' '),
    )
    .join(', ')
  return {
    requests: asked.join(', '),
    told,
    reasons: verdicts.map(({ reason }) => reason),
    locations,
    error,
  }
}

const CREATES = 'list, get N1, note North, create North'

describe('a work location', () => {
  it.each(
    cases(`
    is created, and gets its reference                    |                 | N1:North | | ${CREATES}, forget North, put N1=100 | created
    is not created without a name                         |                 | N1:      | | list | rejected
    is there by its reference                             | 7:North=N1      | N1:North | | list | skipped
    is there with the same description                    | 7:North/Main=N1 | N1:North/Main | | list | skipped
    is never renamed                                      | 7:East=N1       | N1:North | | list | rejected
    is never described in another way                     | 7:North/Main=N1 | N1:North/Side | | list | rejected
    is there by a reference that is not listed            | 7:North         | N1:North | get N1: =7 | list, get N1, list | skipped
    is missing behind its reference                       |                 | N1:North | get N1: =7 | list, get N1, list | rejected
    is not created if nobody says who has the reference   |                 | N1:North | get N1: =? | list, get N1 | rejected
    is not created if that question is refused            |                 | N1:North | get N1: 403 | list, get N1 | rejected 403
    is adopted by its name                                | 7:North         | N1:North | | list, get N1, put N1=7 | adopted
    is adopted with another description                   | 7:North/Main    | N1:North/Side | | list, get N1, put N1=7 | adopted
    is created beside one with another reference          | 7:North=N2      | N1:North | | ${CREATES}, forget North, put N1=101 | created
    is created beside one with another name               | 7:East          | N1:North | | ${CREATES}, forget North, put N1=101 | created
    is one of two with its name                           | 7:North 8:North | N1:North | | list, get N1 | ambiguous 7 8
    is not created if that is refused                     |                 | N1:North | create North: 403 | ${CREATES}, forget North | rejected 403
    is looked for again after a refusal                   |                 | N1:North N2:North | create North: 403 | ${CREATES}, forget North, get N2, list, note North, create North, forget North, put N2=100 | rejected 403, created
    is created without its reference if that is refused   |                 | N1:North | put N1=100: 403 | ${CREATES}, forget North, put N1=100 | rejected 403 100
    is created while others register its reference        |                 | N1:North | put N1=100: 409; get N1: ok =8 | ${CREATES}, forget North, put N1=100, get N1 | rejected 409 8 100
    is created with a reference that is refused only now  |                 | N1:North | put N1=100: 409; get N1: ok =100 | ${CREATES}, forget North, put N1=100, get N1 | rejected 409 100
    is created while nobody says who has the reference    |                 | N1:North | put N1=100: 409; get N1: ok =? | ${CREATES}, forget North, put N1=100, get N1 | rejected 409 100
    is created once for two records                       |                 | N1:North N1:North | | ${CREATES}, forget North, put N1=100 | created, skipped
    is known by the reference that others have registered |  8:North=N2     | N1:East N1:North | put N1=101: 409; get N1: ok =8 | list, get N1, note East, create East, forget East, put N1=101, get N1 | rejected 409 8 101, skipped
  `),
  )('%s', async (_, has, wanted, answers, requests, told) => {
    const { error, ...all } = await applied(has, wanted, answers)
    expect(all).toMatchObject({ requests, told })
    expect(error).toBeUndefined()
  })

  it.each(
    cases(`
    is there                                         | 7:North         | #7:North | | list | skipped
    is never renamed                                 | 7:East          | #7:North | | list | rejected
    is missing                                       |                 | #7:North | | list | rejected
    has the listed reference                         | 7:North=N1      | #7:North=N1 | | list | skipped
    has a reference that is not listed               | 7:North         | #7:North=N1 | get N1: =7 | list, get N1 | skipped
    has a reference that is free                     | 7:North         | #7:North=N1 | | list, get N1 | skipped
    does not have the listed reference               | 7:North 8:East=N1 | #7:North=N1 | | list | rejected 7 8
    does not have a reference that is not listed     | 7:North         | #7:North=N1 | get N1: =8 | list, get N1 | rejected 7 8
    has a reference of which nobody says whose it is | 7:North         | #7:North=N1 | get N1: =? | list, get N1 | rejected
  `),
  )('with an id %s', async (_, has, wanted, answers, requests, told) => {
    expect(await applied(has, wanted, answers)).toMatchObject({ requests, told })
  })

  it.each(
    cases(`
    is requested once                              | | N1:North | create North: lost | ${CREATES}, list | unknown
    is found in the list                           | | N1:North | create North: done | ${CREATES}, list, forget North, put N1=100 | created
    is found in the list if the answer has no id   | | N1:North | create North: unnamed | ${CREATES}, list, forget North, put N1=100 | created
    is one of two in the list                      | | N1:North | create North: twice | ${CREATES}, list, forget North | ambiguous 100 101
    is unknown if the list fails                   | | N1:North | create North: done; list: ok 500 | ${CREATES}, list | unknown 502
    is unknown if the answer has no id and the list fails | | N1:North | create North: unnamed; list: ok 500 | ${CREATES}, list | unknown
    holds back its reference                       | | N1:North N1:East | create North: lost | ${CREATES}, list | unknown, unknown
    holds back its name                            | | N1:North N2:North | create North: lost | ${CREATES}, list, get N2, list | unknown, unknown
    holds back the reference of one of its name    | | N1:North N2:North N2:East | create North: lost | ${CREATES}, list, get N2, list | unknown, unknown, unknown
    holds back nothing else                        | | N1:North N2:East | create North: lost | ${CREATES}, list, get N2, note East, create East, forget East, put N2=100 | unknown, created
  `),
  )('whose creation was not answered %s', async (_, has, wanted, answers, requests, told) => {
    expect(await applied(has, wanted, answers)).toMatchObject({ requests, told })
  })

  it.each([
    ['is there', 'done', 'created'],
    ['is not there', 'lost', 'unknown 100'],
  ])('whose reference is not confirmed is looked up, and %s', async (_, answer, told) => {
    expect(await applied('', 'N1:North', `put N1=100: ${answer}`)).toMatchObject({
      requests: `${CREATES}, forget North, put N1=100, get N1`,
      told,
    })
  })

  it.each<[number, string]>([
    [400, 'rejected 400, adopted'],
    [401, ''],
    [403, 'rejected 403, adopted'],
    ...[302, 307, 308, 409, 413, 418, 422, 501].map((status): [number, string] => [
      status,
      'created, skipped',
    ]),
  ])(
    'that is created although the answer is %d is created once for two records',
    async (status, told) => {
      const all = await applied('', 'N1:North N1:North', `create North: +${status}`)
      expect([all.told, all.locations.size]).toEqual([told, 1])
      expect(all.requests.match(/create/g)).toHaveLength(1)
      expect(all.error).toEqual(told === '' ? expect.objectContaining({ status }) : undefined)
    },
  )

  it('is waited for in the same run if the journal ends with it', async () => {
    const { requests, told } = await applied('', 'N1:North', 'create North: lost', {
      path: undefined,
    })
    const waits = Array.from({ length: 10 }, () => 'list, wait 1000').join(', ')
    expect([requests, told]).toEqual([`${CREATES}, ${waits}, list`, 'unknown'])
  })

  it('is ambiguous if one has its name, and references are not listed', async () => {
    const all = await applied('7:North', 'N1:North', '', { isListed: false })
    expect(all).toMatchObject({ requests: 'list, get N1', told: 'ambiguous 7' })
  })

  it('is created if none has its name, also if references are not listed', async () => {
    expect(await applied('', 'N1:North', '', { isListed: false })).toMatchObject({
      told: 'created',
    })
  })

  it('is not noted in a dry run, nor is an earlier one waited for', async () => {
    const all = await applied('', 'N1:North', '', { dryRun: true, earlier: ['East'] })
    expect(all.requests).toBe('list, get N1, create North, put N1=100')
  })

  it.each([
    ['N1:North/Main', bodyOf('North', 'Main', '100')],
    ['N1:North', bodyOf('North', undefined, '100')],
  ])('has the name and the description of its record: %s', async (wanted, expected) => {
    const { locations } = await applied('', wanted)
    expect([...locations.values()]).toEqual([expected])
  })

  it.each([
    ['', 'N1:North', 'create North: 500', `${CREATES}, forget North`],
    ['', 'N1:North', 'put N1=100: 500', `${CREATES}, forget North, put N1=100`],
    ['7:North', 'N1:North', 'put N1=7: 500', 'list, get N1, put N1=7'],
  ])(
    'ends the run by a failure that concerns no record: %#',
    async (has, wanted, answers, requests) => {
      const all = await applied(has, `${wanted} N9:Last`, answers)
      expect(all).toMatchObject({ requests, told: '', error: { status: 500 } })
    },
  )
})

describe('work locations that an earlier run has requested', () => {
  const WAITS = Array.from({ length: 10 }, () => 'list, wait 1000').join(', ')
  it.each([
    ['are there', '7:East', ['East'], 'list, forget East, get N1'],
    [
      'are waited for together',
      '7:East',
      ['East', 'West'],
      `${WAITS}, list, forget East, forget West, get N1`,
    ],
    ['with a reference are no answer', '7:East=E', ['East'], `${WAITS}, list, forget East, get N1`],
  ])('%s', async (_, has, earlier, requests) => {
    const all = await applied(`8:North ${has}`, 'N1:North', '', { earlier })
    expect(all.requests).toBe(`${requests}, put N1=8`)
  })
})

it.each<[string, string, string, string, RegExp | undefined]>([
  ['is like the record', '7:North', 'N1:North', '', undefined],
  ['differs, but is adopted', '7:North/Main', 'N1:North/Side', '', /^The work location differs/],
  ['differs', '7:East=N1', 'N1:North', '', /^The work location differs from the record/],
  ['is missing', '', '#7:North', '', /^There is no work location with this id/],
  ['is one of two', '7:North 8:North', 'N1:North', '', /^The work locations 7, 8 have this name/],
  ['has another id', '8:East=N1', '#7:North=N1', '', /^The id and the external reference erp/],
  ['has an unreadable id', '', 'N1:North', 'get N1: =?', /did not say in a known form/],
  [
    'has no reference',
    '',
    'N1:North',
    'put N1=100: 403',
    /^The reference of work location 100 was refused: No, 403\.$/,
  ],
  [
    'was made while others registered its reference',
    '',
    'N1:North',
    'put N1=100: 409; get N1: ok =8',
    /for work location 8\. Work location 100, which was created for this record, has none/,
  ],
  [
    'was adopted while others registered its reference',
    '7:North',
    'N1:North',
    'put N1=7: 409; get N1: ok =8',
    /for work location 8\. Work location 7 of the same name has none\.$/,
  ],
  ['may be created', '', 'N1:North', 'create North: lost', /^No answer\. The service did not say/],
  [
    'may be created without an id',
    '',
    'N1:North',
    'create North: unnamed; list: ok 500',
    /^The service did not say/,
  ],
])('says why, if a work location %s', async (_, has, wanted, answers, reason) => {
  const { reasons } = await applied(has, wanted, answers)
  expect(reasons).toEqual([reason && expect.stringMatching(reason)])
})

it.each([
  [
    '7:North',
    'N1:North',
    /^The work location 7 has this name, and the service does not say/,
    false,
  ],
  ['', 'N1:North N1:East', /^An earlier record with the same reference waits/, true],
  [
    '',
    'N1:North N2:North',
    /^The service did not say whether it has created another work location/,
    true,
  ],
])('says why a record waits, or has to be looked at: %#', async (has, wanted, reason, isListed) => {
  const { reasons } = await applied(has, wanted, 'create North: lost', { isListed })
  expect(reasons.at(-1)).toMatch(reason)
})
