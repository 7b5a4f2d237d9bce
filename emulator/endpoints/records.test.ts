import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import type { EmulatorOptions } from '../options.ts'
import { connect, type TestClient } from '../test-client.ts'

describe('put', () => {
  let emulator: Emulator
  let client: TestClient
  const clients = [{ id: 'writer', secret: 'b', scopes: 'all' }] as const
  beforeEach(async () => {
    emulator = await startEmulator({ people: 1, months: 0, clients })
    client = await connect(emulator)
  })
  afterEach(() => emulator.close())

  const put = (reference: string, body: unknown, headers = {}) =>
    client.send('PUT', `/job-categories/${reference}`, body, headers)
  const stored = (id: number) => emulator.all('job-categories').find((one) => one['id'] === id)
  const name = { default: 'Crane' }

  describe('a job category', () => {
    // spec: Job categories: PUT
    it('is replaced: fields that the body leaves out become empty', async () => {
      const whole = { name: { default: 'Crane', translations: { nl: 'Kraan' } }, externalCode: 'C' }
      const before = stored(1)
      const answer = await put('1', { ...whole, id: 2, changeVersion: '0', other: 1 })
      const first = stored(1)
      await put('1', { name })
      const second = stored(1)
      expect([answer.status, answer.body, first, second]).toEqual([
        200,
        '',
        { id: 1, changeVersion: expect.any(String), ...whole },
        { id: 1, changeVersion: expect.any(String), name },
      ])
      const versions = [before, first, second].map((one) => String(one?.['changeVersion']))
      expect([versions, new Set(versions).size]).toEqual([versions.toSorted(), 3])
    })

    it('is in the list and found by its id at once', async () => {
      await put('1', { name })
      const { items } = await client.walk('/job-categories')
      const { body } = await client.get('/job-categories/1')
      expect([items[0]?.name, body.name]).toEqual([name, name])
    })

    // spec: Addressing: PUT
    it.each([
      [200, 'A%2F1?externalReferences=(job-categories,erp)'],
      [200, 'A%2F1?externalReferences=(job-categories,erp)(job-categories,none)'],
      [404, 'A%2F1?externalReferences=(job-categories,none)(job-categories,erp)'],
      [404, 'A2?externalReferences=(job-categories,erp)'],
      [404, '99999'],
      [400, 'A%2F1'],
      [400, 'A%2F1?externalReferences=(job-categories,@code)'],
      [400, 'A%2F1?externalReferences=(people,erp)'],
      [400, 'A%2F1?externalReferences=job-categories,erp'],
    ])('is answered by %i at %s', async (status, reference) => {
      emulator.setReference('job-categories', 'erp', 'A/1', 2)
      expect(await put(reference, { name })).toMatchObject({ status })
      if (status === 200) expect(stored(2)?.['name']).toEqual(name)
    })

    // spec: Errors: 400 validation
    // spec: Limits: externalCode
    it.each([
      ['name', {}],
      ['name.default', { name: {} }],
      ['name.default', { name: { default: null } }],
      ['name.default', { name: { default: 5 } }],
      ['name.default', { name: { default: '' } }],
      ['name', { name: 'Crane' }],
      ['name.translations', { name: { default: 'C', translations: [] } }],
      ['name.translations.dutch', { name: { default: 'C', translations: { dutch: 'K' } } }],
      ['name.translations.NL', { name: { default: 'C', translations: { NL: 'K' } } }],
      ['name.translations.nl', { name: { default: 'C', translations: { nl: 5 } } }],
      ['externalCode', { name, externalCode: 'x'.repeat(51) }],
      ['externalCode', { name, externalCode: 5 }],
      ['', 'no JSON'],
    ])('is refused for its %s in %j, and does not change', async (property, body) => {
      const before = stored(1)
      const answer = await put('1', body)
      const properties = answer.body.validationErrors.map((one) => one.property)
      expect([answer.status, properties, stored(1)]).toEqual([
        400,
        [property === 'name' && body !== 'no JSON' ? expect.stringMatching(/^name/) : property],
        before,
      ])
    })

    it('names everything that is wrong', async () => {
      const { body } = await put('1', { name: { translations: { x: 'K' } }, externalCode: 1 })
      expect(body.validationErrors.map((one) => one.property)).toEqual([
        'name.default',
        'name.translations.x',
        'externalCode',
      ])
    })

    // spec: Limits: externalCode
    it('accepts a code of 50 characters, and null for a missing one', async () => {
      const externalCode = '😀'.repeat(50)
      const answer = await put('1', { name, externalCode })
      const first = stored(1)
      await put('1', { name: { ...name, translations: null }, externalCode: null })
      expect([answer.status, first?.['externalCode'], stored(1)]).toEqual([
        200,
        externalCode,
        { id: 1, changeVersion: expect.any(String), name },
      ])
    })
  })

  describe('an option', () => {
    it('keeps fields that a body leaves out', async () => {
      emulator.options.leftOut = 'kept'
      const before = stored(1)
      await put('1', { name })
      expect(stored(1)).toEqual({
        ...before,
        changeVersion: expect.any(String),
        name: { ...(before?.['name'] as object), ...name },
      })
    })

    it('keeps fields that a body sets to null', async () => {
      emulator.options.leftOut = 'kept'
      await put('1', { name, externalCode: 'C' })
      await put('1', { name, externalCode: null })
      expect(stored(1)?.['externalCode']).toBe('C')
    })

    it.each(['7', '007', '+7', '%207'])(
      'reads %s as an id where a reference is meant',
      async (path) => {
        emulator.setReference('job-categories', 'erp', decodeURIComponent(path), 2)
        const query = '?externalReferences=(job-categories,erp)'
        const ids = []
        for (const integerReference of ['value', 'id'] as const) {
          emulator.options.integerReference = integerReference
          ids.push((await client.get(`/job-categories/${path}${query}`)).body.id)
        }
        expect(ids).toEqual([2, 7])
      },
    )

    it.each([
      ['precondition-failed', 412],
      ['conflict', 409],
    ] as const)('heeds If-Match (%s)', async (etags, refused) => {
      Object.assign(emulator.options, { etags })
      const tag = String((await client.get('/job-categories/1')).headers.get('etag'))
      const statuses = []
      for (const wanted of [tag, tag, `"x", ${tag}`, '*']) {
        statuses.push((await put('1', { name }, { 'if-match': wanted })).status)
      }
      expect([tag, statuses]).toEqual([
        expect.stringMatching(/^"\w+"$/),
        [200, refused, refused, 200],
      ])
    })

    it('never accepts a weak ETag', async () => {
      Object.assign(emulator.options, { etags: 'weak' })
      const tag = String((await client.get('/job-categories/1')).headers.get('etag'))
      expect(tag).toMatch(/^W\/"\w+"$/)
      expect((await put('1', { name }, { 'if-match': tag })).status).toBe(412)
    })

    it('has no ETag, and ignores If-Match', async () => {
      const { headers } = await client.get('/job-categories/1')
      const answer = await put('1', { name }, { 'if-match': '"x"' })
      expect([headers.get('etag'), answer.status]).toEqual([null, 200])
    })
  })

  it.each([
    ['specification', [200, 400], { nl: 'K' }],
    ['documentation', [200, 200], { 'nl-BE': 'K' }],
  ] as const)('takes the translations of the %s', async (dialect, expected, translations) => {
    await emulator.close()
    emulator = await startEmulator({ people: 1, months: 0, clients, dialect })
    client = await connect(emulator)
    const statuses = []
    for (const key of ['nl', 'nl-BE']) {
      const body = { name: { default: 'C', translations: { [key]: 'K' } } }
      statuses.push((await put('1', body)).status)
    }
    expect([statuses, stored(1)?.['name']]).toEqual([expected, { default: 'C', translations }])
  })
})

describe('posted', () => {
  let emulator: Emulator
  let client: TestClient
  const start = async (options: EmulatorOptions = {}) => {
    const clients = [{ id: 'writer', secret: 'b', scopes: 'all' }] as const
    emulator = await startEmulator({ people: 1, months: 0, clients, ...options })
    client = await connect(emulator)
  }
  afterEach(() => emulator.close())

  const post = (body: unknown, query = '') => client.send('POST', `/work-locations${query}`, body)
  const whole = { name: { default: 'Yard', translations: { nl: 'Werf' } }, description: 'Gate 4' }

  describe('a work location', () => {
    // spec: Work locations: POST
    it.each(['documentation', 'specification'] as const)(
      'that is posted is in the list at once (%s)',
      async (dialect) => {
        await start({ dialect })
        const known = emulator.all('work-locations').map(({ id }) => Number(id))
        const { status, body, headers } = await post({ ...whole, id: 1, changeVersion: '0' })
        const id = Number(headers.get('location')?.split('/').at(-1))
        const { items } = await client.walk('/work-locations')
        expect([status, body, known.includes(id), items.at(-1)]).toEqual([
          201,
          '',
          false,
          { id, changeVersion: expect.any(String), ...whole },
        ])
      },
    )

    it.each([
      ['documentation', ''],
      ['specification', 'http://127.0.0.1'],
    ] as const)('has its address in Location as the %s writes links', async (dialect, origin) => {
      await start({ dialect })
      const { headers } = await post(whole)
      const path = `/connector/${emulator.options.apiName}/api/v1/work-locations/`
      const [before] = String(headers.get('location')).split(path)
      expect(before?.replace(/:\d+$/, '')).toBe(origin)
    })

    it('may exist twice', async () => {
      await start()
      const count = emulator.all('work-locations').length
      const places = [await post(whole), await post(whole)].map(({ headers }) =>
        headers.get('location'),
      )
      expect([new Set(places).size, emulator.all('work-locations').length]).toEqual([2, count + 2])
    })

    it('is found by the reference that is registered afterwards', async () => {
      await start()
      const { headers } = await post(whole)
      const internalReference = headers.get('location')?.split('/').at(-1)
      await client.send('PUT', '/external-references/work-locations/erp/Y1', { internalReference })
      const path = '/work-locations/Y1?externalReferences=(work-locations,erp)'
      expect((await client.get(path)).body).toMatchObject(whole)
    })

    // spec: Errors: 400 validation
    // spec: Errors: 400 unsupported query parameter
    // spec: Addressing 5
    it.each([
      [{}, ''],
      [{ name: { default: null } }, ''],
      [{ name: { default: 'Y', translations: { dutch: 'W' } } }, ''],
      [{ ...whole, description: 4 }, ''],
      ['no JSON', ''],
      [whole, '?externalReferences=(work-locations,erp)'],
    ])('is not made of %j%s', async (body, query) => {
      await start()
      const before = emulator.all('work-locations')
      expect([(await post(body, query)).status, emulator.all('work-locations')]).toEqual([
        400,
        before,
      ])
    })
  })
})
