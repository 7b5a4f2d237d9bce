import { describe, expect, it } from 'vitest'
import { reply } from '../http/testing/http-service.ts'
import { failureOf } from '../http/testing/open-client.ts'
import { all, openServiceClient, PREFIX } from './testing/open-service-client.ts'

const ONE = { collection: 'people', name: 'hr-id', value: 'E-12', internalReference: '5' }
const PATH = '/external-references/people/hr-id/E-12'

describe('a reference', () => {
  // spec: Service 4
  // spec: Endpoints: PUT /external-references/{collectionName}/{referenceName}/{externalReference}
  // spec: External reference management: PUT
  it('is put by its path, with the id in the body', async () => {
    const { client, asked, bodies } = await openServiceClient((response) => reply(response, 200))
    await client.references.put(ONE)
    expect([asked, bodies]).toEqual([[`PUT ${PATH}`], [{ internalReference: '5' }]])
  })

  it('is found with its id, or is undefined', async () => {
    const { client } = await openServiceClient((response, _, index) =>
      index === 0 ? reply(response, 200, { internalReference: '5' }) : reply(response, 404),
    )
    const found = [
      await client.references.get('people', 'hr-id', 'E-12'),
      await client.references.get('people', 'hr-id', 'E-12'),
    ]
    expect(found).toEqual([ONE, undefined])
  })

  // spec: Endpoints: DELETE /external-references/{collectionName}/{referenceName}/{externalReference}
  // spec: External reference management: DELETE
  it.each([
    ['deleted', 'it was there', [204]],
    ['absent', 'it was not', [404]],
    ['deleted', 'the first request may have done it', [undefined, 404]],
  ])('is %s when %s', async (removal, _, statuses) => {
    const { client, asked } = await openServiceClient((response, _request, index) => {
      const status = statuses[index]
      if (status === undefined) response.destroy()
      else reply(response, status)
    })
    expect(await client.references.remove('people', 'hr-id', 'E-12')).toBe(removal)
    expect(asked).toEqual(statuses.map(() => `DELETE ${PATH}`))
  })

  // spec: Filtering: URL length
  it.each([
    ['a predefined name', { name: '@badge-number' }, /^The reference @badge-number is predefined/],
    ['an empty name', { name: '' }, /name of the reference is empty/],
    ['an empty collection', { collection: '' }, /name of the collection is empty/],
    ['an empty value', { value: '' }, /value of the reference is empty/],
    ['an invisible value', { value: ' \u200b' }, /value of the reference is empty/],
    ['a value with half a pair', { value: 'a\ud800' }, /value .* an unpaired surrogate/],
    ['a name with half a pair', { name: '\udc00a' }, /name .* an unpaired surrogate/],
    ['an id that is no number', { internalReference: '12a' }, /whole number/],
    ['an id with leading zeros', { internalReference: '007' }, /whole number/],
    ['an id below zero', { internalReference: '-1' }, /whole number/],
    ['an empty id', { internalReference: '' }, /whole number/],
    ['a number for a GUID', { collection: 'activity-definitions' }, /is a GUID/],
    ['a path that is too long', { value: 'x'.repeat(4100) }, /at most 4096: use a shorter/],
  ])('with %s is refused before a request', async (_, part, message) => {
    const { client, requests } = await openServiceClient((response) => reply(response, 200))
    const failure = await failureOf(client.references.put({ ...ONE, ...part }))
    expect([failure, requests]).toEqual([
      expect.objectContaining({ name: 'ClientError', message: expect.stringMatching(message) }),
      [],
    ])
  })

  it('that the service refuses is an error with its text, but without the value', async () => {
    const { client } = await openServiceClient((response) =>
      reply(response, 400, { error: { code: 'Taken', message: 'E-12 belongs to 7' } }),
    )
    expect(await failureOf(client.references.put(ONE))).toMatchObject({
      name: 'ClientError',
      failure: 'config',
      status: 400,
      code: 'Taken',
      reasons: ['**** belongs to 7'],
      mayHaveHappened: false,
      message: expect.stringMatching(
        /\(400 for .*\/people\/hr-id\/\*\*\*\*\): Taken; \*\*\*\* belongs/,
      ),
    })
  })
})

describe('the list of references', () => {
  it('is that of a collection or of one name, over all pages', async () => {
    const { client, asked } = await openServiceClient((response, { url }) =>
      url.includes('continuationToken')
        ? reply(response, 200, { value: [{ value: 'E-13', internalReference: '6' }] })
        : reply(response, 200, { value: { 'E-12': '5' }, NextLink: `${url}?continuationToken=2` }),
    )
    expect(await all(client.references.list('people', 'hr-id'))).toEqual([
      ONE,
      { ...ONE, value: 'E-13', internalReference: '6' },
    ])
    await all(client.references.list('people')).catch(() => {})
    const path = '/external-references/people'
    const next = '?continuationToken=2'
    expect(asked.map((line) => line.replace('GET ', ''))).toEqual([
      `${path}/hr-id`,
      `${path}/hr-id${next}`,
      path,
    ])
  })

  it.each([['hr-id'], [undefined]])(
    'that is a 404 is an error: it says nothing of the references (%s)',
    async (name) => {
      const { client } = await openServiceClient((response) => reply(response, 404))
      const failure = await failureOf(all(client.references.list('people', name)))
      expect(failure).toMatchObject({ status: 404, failure: 'config' })
    },
  )

  it.each([
    ['is no JSON', 'E-12, 5', /cannot be read: it is not JSON \(.*\/people\)/],
    [
      'goes round in circles',
      { value: [], nextLink: `${PREFIX}/external-references/people` },
      /had sent before/,
    ],
    ['leads elsewhere', { value: [], nextLink: 'https://evil.test/' }, /must not go there/],
  ])('that %s is an error', async (_, body, message) => {
    const { client } = await openServiceClient((response) => reply(response, 200, body))
    const failure = await failureOf(all(client.references.list('people')))
    expect(failure).toMatchObject({
      name: 'ClientError',
      failure: 'system',
      message: expect.stringMatching(message),
    })
  })
})

describe('a scope', () => {
  // spec: Authentication 8
  it('that the token does not have is an error without a request', async () => {
    const { client, asked } = await openServiceClient((response) => reply(response, 200), {
      scopes: ['external-references.write'],
      granted: 'connector-svcapi-external-references.read',
    })
    expect(await failureOf(client.references.put(ONE))).toMatchObject({
      failure: 'config',
      isMissingScope: true,
      missingScope: 'connector-svcapi-external-references.write',
      message: expect.stringMatching(/lacks the scope connector-svcapi-external-references\.write/),
    })
    expect(asked).toEqual([])
  })

  it('is what a 401 concerns, not a 403, which concerns the record', async () => {
    const statuses = [401, 401, 401, 403]
    const { client } = await openServiceClient((response, _, index) =>
      reply(response, statuses[index] ?? 200),
    )
    const failures = [
      await failureOf(client.references.put(ONE)),
      await failureOf(client.references.put(ONE)),
    ]
    expect(failures).toMatchObject([
      {
        status: 401,
        failure: 'config',
        isMissingScope: true,
        message: expect.stringMatching(
          /probably lacks the scope connector-svcapi-external-references\.write/,
        ),
      },
      {
        status: 403,
        failure: 'config',
        isMissingScope: false,
        message: expect.stringMatching(/^The client has no access to this record \(403 /),
      },
    ])
  })

  it('is requested by its name, and no other', async () => {
    const { client, requests } = await openServiceClient((response) => reply(response, 200), {
      scopes: ['external-references.write'],
    })
    await client.references.put(ONE)
    const form = new URLSearchParams(requests[0]?.body)
    expect(form.get('scope')).toBe('connector-svcapi-external-references.write')
  })
})

const BAKERS = {
  id: '7',
  name: { default: 'Bakers', translations: { nl: 'Bakkers' } },
  externalCode: 'B1',
  changeVersion: '0A',
}
const SENT = { ...BAKERS, id: 7 }
const NONE = { name: 'hr-id', value: 'B/1 é' }
const BY_VALUE = 'job-categories/B%2F1%20%C3%A9?externalReferences=(job-categories,hr-id)'

describe('a job category', () => {
  it.each([
    ['an object', SENT],
    ['an object in value', { value: SENT }],
    ['a list of one', [SENT]],
  ])('is read by its id from %s, with the version that If-Match takes', async (_, body) => {
    const { client, asked } = await openServiceClient((response) =>
      reply(response, 200, body, { etag: '"0A"' }),
    )
    const found = await client.jobCategories.get({ id: '7' })
    expect([found, asked]).toEqual([{ record: BAKERS, etag: '"0A"' }, ['GET /job-categories/7']])
  })

  // spec: Addressing: PUT
  it('is found by the value of a reference, which the query names', async () => {
    const { client, asked } = await openServiceClient((response) => reply(response, 200, SENT))
    expect(await client.jobCategories.get(NONE)).toEqual({ record: BAKERS })
    expect(asked).toEqual([`GET /${BY_VALUE}`])
  })

  it('is undefined if there is none', async () => {
    const { client } = await openServiceClient((response) => reply(response, 404))
    expect(await client.jobCategories.get({ id: '7' })).toBeUndefined()
  })

  it.each(['7', '007', '+7', ' 7', '7.0', '\uff17'])(
    'is not believed to have the value %j, which a service may read as its id',
    async (value) => {
      const { client } = await openServiceClient((response) => reply(response, 200, SENT))
      const failure = await failureOf(client.jobCategories.get({ name: 'hr-id', value }))
      expect(failure).toMatchObject({
        failure: 'config',
        message: expect.stringMatching(/took a value .* for the id/),
      })
    },
  )

  it.each([
    ['7', '7'],
    ['008', undefined],
    ['baker ', 'BAKER'],
  ])('that is asked for by %j and shows %j is the one', async (value, shown) => {
    const { client } = await openServiceClient((response) =>
      reply(response, 200, { ...SENT, externalReferences: { 'hr-id': shown } }),
    )
    expect(await client.jobCategories.get({ name: 'hr-id', value })).toMatchObject({
      record: BAKERS,
    })
  })

  it('with another value than the requested one is another job category', async () => {
    const { client } = await openServiceClient((response) =>
      reply(response, 200, { ...SENT, externalReferences: { 'hr-id': 'COOK' } }),
    )
    const failure = await failureOf(client.jobCategories.get({ name: 'hr-id', value: 'BAKER' }))
    expect(failure).toMatchObject({
      failure: 'config',
      message: expect.stringMatching(/another value of the reference hr-id/),
    })
  })

  // spec: Endpoints: PUT /job-categories/{jobCategoryReference}
  it('is put as a whole, for the version that was read', async () => {
    const { client, asked, bodies, requests } = await openServiceClient((response) =>
      reply(response, 200),
    )
    const body = { name: BAKERS.name, externalCode: 'B2' }
    await client.jobCategories.put(NONE, body, '"0A"')
    await client.jobCategories.put({ id: '7' }, body)
    expect([asked, bodies]).toEqual([
      [`PUT /${BY_VALUE}`, 'PUT /job-categories/7'],
      [body, body],
    ])
    expect(requests.slice(1).map(({ headers }) => headers['if-match'])).toEqual(['"0A"', undefined])
  })

  it.each([{ id: 'B1' }, { id: '' }, { name: '@code', value: 'B1' }])(
    'that %j cannot name is refused before a request',
    async (key) => {
      const { client, requests } = await openServiceClient((response) => reply(response, 200, SENT))
      const failure = await failureOf(client.jobCategories.get(key))
      expect([failure.name, requests]).toEqual(['ClientError', []])
    },
  )

  it.each([
    [404, 'config', /^There is no such record/],
    [409, 'transient', /reports a conflict/],
    [412, 'transient', /was changed in the meantime/],
  ])('whose PUT is answered by %d is an error', async (status, failure, message) => {
    const { client, asked } = await openServiceClient((response) => reply(response, status))
    const error = await failureOf(client.jobCategories.put(NONE, { name: { default: 'x' } }))
    expect(error).toMatchObject({ status, failure, message: expect.stringMatching(message) })
    expect([error.message.includes('B%2F1'), asked.length]).toEqual([false, 1])
  })
})

it.each([
  ['a list', [SENT]],
  ['a page', { value: [SENT] }],
  [
    'other capitals',
    { Value: [{ Id: 7, Name: SENT.name, ExternalCode: 'B1', ChangeVersion: '0A' }] },
  ],
])('the list of job categories may be %s', async (_, body) => {
  const { client } = await openServiceClient((response) => reply(response, 200, body))
  expect(await all(client.jobCategories.list())).toEqual([BAKERS])
})

it.each([{}, { items: [SENT] }, { error: { code: 'Busy' } }, { 7: SENT }, { id: 7 }, 'null'])(
  'a list in another form is not readable: %j',
  async (body) => {
    const { client } = await openServiceClient((response) => reply(response, 200, body))
    const lists: AsyncIterable<unknown>[] = [
      client.jobCategories.list(),
      client.workLocations.list(),
      client.webhooks.list(),
    ]
    for (const list of lists)
      expect(await failureOf(all(list))).toMatchObject({ id: 'response-not-understood' })
  },
)

it('a job category may have no more than an id and a name', async () => {
  const { client } = await openServiceClient((response) =>
    reply(response, 200, [{ id: 7, name: { default: 'Bakers' }, externalCode: null }]),
  )
  expect(await all(client.jobCategories.list())).toEqual([{ id: '7', name: { default: 'Bakers' } }])
})

const BODY = { name: { default: 'Ghent' }, description: 'at the docks' }

describe('a work location', () => {
  // spec: Endpoints: POST /work-locations
  // spec: Work locations: POST
  it.each([
    ['a relative Location', '', { location: `${PREFIX}/work-locations/31` }, '31'],
    ['an absolute one', '', { location: `https://x.test${PREFIX}/work-locations/31/` }, '31'],
    ['no Location, but a body', '{"id":31}', {}, undefined],
    ['a Location elsewhere', '', { location: `${PREFIX}/operations/31` }, undefined],
    ['nothing', '', {}, undefined],
  ])('is created, and its id is told by %s or not at all', async (_, body, headers, id) => {
    const { client, asked, bodies } = await openServiceClient((response) =>
      reply(response, 201, body, headers),
    )
    expect(await client.workLocations.create(BODY)).toEqual({ id })
    expect([asked, bodies]).toEqual([['POST /work-locations'], [BODY]])
  })

  it.each([200, 202, 204])('is not known to be created after a %d', async (status) => {
    const headers = { location: `${PREFIX}/work-locations/31` }
    const { client } = await openServiceClient((response) => reply(response, status, '', headers))
    expect(await client.workLocations.create(BODY)).toEqual({ id: undefined })
  })

  it('that may have been created is not sent again, and the error says so', async () => {
    const { client, asked } = await openServiceClient((response) => response.destroy())
    const failure = await failureOf(client.workLocations.create(BODY))
    expect([failure, asked.length]).toEqual([
      expect.objectContaining({ name: 'ClientError', mayHaveHappened: true, status: undefined }),
      1,
    ])
  })

  it.each([500, 503, 408, 524])(
    'that is answered by %d is not sent again, whatever Retry-After says, and may have been created',
    async (status) => {
      const { client, asked } = await openServiceClient((response) =>
        reply(response, status, '', { 'retry-after': '0' }),
      )
      const failure = await failureOf(client.workLocations.create(BODY))
      expect([failure, asked.length]).toEqual([
        expect.objectContaining({ status, mayHaveHappened: true }),
        1,
      ])
    },
  )

  it('that was refused temporarily is sent again', async () => {
    const { client, asked } = await openServiceClient((response, _, index) =>
      index === 0
        ? reply(response, 429, '', { 'retry-after': '1' })
        : reply(response, 201, '', { location: `${PREFIX}/work-locations/31` }),
    )
    await client.workLocations.create(BODY)
    expect(asked).toHaveLength(2)
  })
})

it('the list of work locations is read over all pages', async () => {
  const record = { id: 31, name: { default: 'Ghent', translations: { fr: 'Gand' } } }
  const { client } = await openServiceClient((response, { url }) =>
    url.endsWith('=2')
      ? reply(response, 200, { value: [{ ...record, id: 32, description: 'x' }], nextLink: null })
      : reply(response, 200, { value: [record], nextLink: `${url}?continuationToken=2` }),
  )
  expect(await all(client.workLocations.list())).toEqual([
    { ...record, id: '31' },
    { ...record, id: '32', description: 'x' },
  ])
})
