import { describe, expect, it, onTestFinished } from 'vitest'
import { collections } from '../collections/collections.ts'
import { startEmulator } from '../emulator.ts'
import { connect, shareEmulators } from '../test-client.ts'

const started = shareEmulators()

const october = "filter=date ge '2026-10-01' and date le '2026-10-31'"

describe('a list', () => {
  // spec: Work locations: GET
  // spec: Employers and shift definitions: GET
  it.each(Object.keys(collections).filter((name) => name !== 'activity-definitions'))(
    'of %s gives all records, page by page',
    async (name) => {
      const { emulator, client } = await started({ people: 3, months: 1, pageSize: 7 })
      const filter = "?filter=date ge '2026-10-01' and date le '2027-09-30'"
      const { items } = await client.walk(`/${name}${collections[name]?.dateField ? filter : ''}`)
      expect(items).toEqual(emulator.stored(name))
    },
  )

  it('of activity definitions is below the versions and levels in the configuration', async () => {
    const { emulator, client } = await started({ people: 1, months: 0 })
    expect(emulator.config()['activity_structures']).toEqual(emulator.activityStructures)
    const lists = emulator.activityStructures.map(({ structure_version_id, level }) =>
      client.walk(
        `/activity-structure-versions/${structure_version_id}/levels/${level}/activity-definitions`,
      ),
    )
    const items = (await Promise.all(lists)).flatMap((list) => list.items)
    expect(items.map(({ id }) => id).sort()).toEqual(
      emulator.all('activity-definitions').map(({ id }) => id),
    )
  })

  it('has relative links with raw spaces and quotes in the documentation', async () => {
    const { client } = await started({ people: 3, months: 2, pageSize: 10 })
    const { body } = await client.get(`/clockings?${october}`)
    expect(body.nextLink).toMatch(
      /^\/connector\/protimeapi\/api\/v1\/clockings\?filter=date ge '2026-10-01' and date le '2026-10-31'&continuationToken=/,
    )
  })

  // spec: Conventions: list page
  it('has absolute, encoded links in the specification, and null at the end', async () => {
    const { emulator, client } = await started({
      dialect: 'specification',
      people: 1,
      months: 0,
      pageSize: 5,
    })
    const { body } = await client.get('/work-locations')
    expect(body.nextLink).toMatch(
      `${emulator.url}/connector/svcapi/api/v1/work-locations?continuationToken=`,
    )
    expect((await client.get(body.nextLink)).body.nextLink).toBeNull()
  })

  it('shows records that are added after the current page', async () => {
    const { emulator, client } = await started({ people: 10, months: 0, pageSize: 5 })
    const { body } = await client.get('/people')
    emulator.insert('people')
    expect((await client.walk(body.nextLink)).items).toHaveLength(6)
  })

  it('returns tokens with plus signs, which are not spaces', async () => {
    const { client } = await started({ people: 10, months: 0, pageSize: 5 })
    const { body } = await client.get('/people')
    expect(body.nextLink).toContain('+')
  })

  it('keeps more digits than a double holds', async () => {
    const { emulator, client } = await started({ people: 0 })
    emulator.insert('clockings', {
      date: '2026-10-05',
      geolocation: { longitude: 4.351712345, latitude: 50.5 },
    })
    const url = `${emulator.url}/connector/protimeapi/api/v1/clockings?${october}`
    const headers = { authorization: `Bearer ${client.token}`, 'user-agent': 'Tests/1 (Acme)' }
    const text = await (await fetch(url, { headers })).text()
    expect(text).toContain('"longitude":4.351712345000000123456')
  })
})

describe.each(['/people', '/people?delta'])('while %s is read page by page', (path) => {
  /** The ids on the pages if, after the first page, one of its records is deleted and another one is inserted. */
  const idsOf = async (paging: 'key' | 'offset' | 'snapshot') => {
    const emulator = await startEmulator({ people: 7, months: 0, pageSize: 3, paging })
    onTestFinished(() => emulator.close())
    const client = await connect(emulator)
    const first = (await client.get(path)).body
    emulator.remove('people', 2)
    emulator.update('people', 5, { firstName: 'Ann' })
    emulator.insert('people')
    const { items } = await client.walk(first.nextLink)
    return [...first.value, ...items]
  }

  it('by key, a delete before the current page changes no other page', async () => {
    expect((await idsOf('key')).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('by offset, a delete before the current page leaves out another record', async () => {
    expect((await idsOf('offset')).map(({ id }) => id)).toEqual([1, 2, 3, 5, 6, 7, 8])
  })

  it('from a snapshot, every page is as at the time of the first one', async () => {
    const items = await idsOf('snapshot')
    expect([items.map(({ id }) => id), items[4]?.firstName === 'Ann']).toEqual([
      [1, 2, 3, 4, 5, 6, 7],
      false,
    ])
  })
})

it('a list that is paged by offset counts only records that pass its filter', async () => {
  const { emulator, client } = await started({
    people: 3,
    months: 1,
    pageSize: 4,
    paging: 'offset',
  })
  const { items } = await client.walk(`/clockings?${october}`)
  const days = emulator.stored('clockings').filter(({ date }) => String(date).startsWith('2026-10'))
  expect([items, days.length > 8]).toEqual([days, true])
})

it.each([
  ["date ge '2026-10-01'", [200, 400]],
  ["date le '2026-10-31'", [200, 400]],
  ["date ge '2026-10-01' and date le '2026-10-31'", [200, 200]],
  ["date eq '2026-10-01'", [200, 200]],
])('a list of %s is open to today, or refused', async (filter, statuses) => {
  const { emulator, client } = await started({ people: 1, months: 1 })
  const given = []
  for (const openRange of ['to-today', 'refused'] as const) {
    emulator.options.openRange = openRange
    given.push((await client.get(`/clockings?filter=${filter}`)).status)
  }
  emulator.options.openRange = 'to-today'
  expect(given).toEqual(statuses)
})

describe('a list answers', () => {
  // spec: External references: kinds
  // spec: Filtering: required
  // spec: Errors: 400 external reference specification
  it.each([
    [400, 'without the required date', '/clockings'],
    [200, 'with a start a year ago', "/clockings?filter=date ge '2025-11-20'"],
    [400, 'with a start more than a year ago', "/clockings?filter=date ge '2025-11-19'"],
    [200, 'with an end alone', "/clockings?filter=date le '2026-10-01'"],
    [400, 'with more than a year', "/breaks?filter=date ge '2025-01-01' and date le '2026-01-02'"],
    [200, 'with a year', "/breaks?filter=date ge '2025-01-01' and date le '2025-12-31'"],
    [
      400,
      'with an end before the start',
      "/breaks?filter=date ge '2026-02-01' and date le '2026-01-01'",
    ],
    [200, 'with an open end where there is no maximum', "/assignments?filter=date ge '2020-01-01'"],
    [400, 'with an unquoted date', '/clockings?filter=date ge 2026-10-01'],
    [400, 'with a filter of another collection', `/breaks?${october} and kind eq 'InOut'`],
    [400, 'with a filter on reference data', '/departments?filter=person eq 1'],
    [400, 'with references that are not supported', '/employers?externalReferences=(employers,x)'],
    [400, 'with an unknown predefined reference', '/people?externalReferences=(people,@name)'],
    [400, 'with malformed references', '/people?externalReferences=people,@badge-number'],
    [400, 'with a delta where there is none', '/sectors?delta'],
    [400, 'with an unknown continuation token', '/people?continuationToken=abc'],
    [409, 'with an unknown continuation token of contracts', '/contracts?continuationToken=abc'],
    [404, 'at an unknown path', '/terminals'],
    [
      404,
      'below an unknown structure version',
      '/activity-structure-versions/x/levels/1/activity-definitions',
    ],
    [400, 'with a malformed escape', '/people?filter=%E0%A4%A'],
    [414, 'with a URL over 4096 characters', `/people?filter=person in (${'1,'.repeat(2100)}1)`],
  ])('%i %s', async (status, _, path) => {
    const { client } = await started({ people: 1, months: 0 })
    expect(await client.get(path)).toMatchObject({ status })
  })

  it('400 to an end more than a year after the first record', async () => {
    const { client } = await started({ people: 1, months: 1 })
    const path = "/breaks?filter=date le '2027-12-31'"
    expect(await client.get(path)).toMatchObject({ status: 400 })
  })

  it('400 to a continuation token of another filter', async () => {
    const { client } = await started({ people: 3, months: 1, pageSize: 5 })
    const { body } = await client.get(`/clockings?${october}`)
    const other = body.nextLink.replace('2026-10-31', '2026-10-30')
    expect(await client.get(other)).toMatchObject({ status: 400 })
  })

  it('a continuation token that has expired with the wanted status', async () => {
    const { emulator, client } = await started({ people: 10, months: 0, pageSize: 5 })
    const { body } = await client.get('/people')
    emulator.expireContinuations(410)
    expect(await client.get(body.nextLink)).toMatchObject({ status: 410 })
  })

  it('405 to writing, with a body', async () => {
    const { client } = await started({ people: 0 })
    const { status, body } = await client.get('/people', { method: 'POST', body: '{}' })
    expect([status, body.error.code]).toEqual([405, 'MethodNotAllowed'])
  })

  it('a refused filter with the reasons', async () => {
    const { client } = await started({ people: 0 })
    const { body } = await client.get('/clockings')
    expect(body).toEqual({
      error: {
        code: 'BadRequest',
        message: 'Request not valid',
        reasons: ['A filter on date is required'],
      },
    })
  })
})

describe('the specification', () => {
  it.each([
    [200, '/employers'],
    [200, '/shift-definitions'],
    [200, '/departments?delta'],
    [200, "/access-clockings?filter=date ge '2026-10-01'&delta"],
    [404, '/departments'],
    [404, '/people'],
    [404, `/clockings?${october}`],
    [404, '/employers/1'],
    [200, '/departments/1'],
  ])('answers %i at %s', async (status, path) => {
    const { client } = await started({ dialect: 'specification', people: 1, months: 0 })
    expect(await client.get(path)).toMatchObject({ status })
  })
})
