import { afterEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import type { EmulatorOptions } from '../options.ts'
import { connect, type TestClient } from '../test-client.ts'

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

  it('may be there twice', async () => {
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
