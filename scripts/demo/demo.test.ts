import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { referencedCollections } from '../../src/streams/collections.ts'
import { allReferences, createReferenceWriter } from './service.ts'
import { removeLeftovers, table } from './warehouse.ts'

describe('the remains of an earlier demo', () => {
  let folder: string
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'leftovers-')), 'demo-output')
  })
  afterEach(() => rmSync(join(folder, '..'), { recursive: true }))

  it('is reported before it is removed', async () => {
    mkdirSync(join(folder, 'warehouse.duckdb.protime-0123456789ab'), { recursive: true })
    writeFileSync(join(folder, 'warehouse.duckdb'), '')
    const told: string[][] = []
    await removeLeftovers(folder, (names) => {
      told.push(names.filter((name) => existsSync(join(folder, name))))
    })
    expect(told).toEqual([['warehouse.duckdb', 'warehouse.duckdb.protime-0123456789ab']])
    expect(readdirSync(folder)).toEqual([])
  })

  it('is all that is removed', async () => {
    mkdirSync(folder)
    for (const name of ['mine.csv', 'config.json']) writeFileSync(join(folder, name), '')
    await removeLeftovers(folder, () => {})
    expect(readdirSync(folder)).toEqual(['mine.csv'])
  })

  it('is nothing before the first demo, which finds the folder made', async () => {
    await removeLeftovers(folder, () => expect.unreachable())
    expect(existsSync(folder)).toBe(true)
  })
})

it('aligns numbers to the right and texts to the left', () => {
  const text = table(
    ['stream', 'rows', 'share'],
    [
      ['people', '1,300', '0.5'],
      ['job_histories', '7', ''],
    ],
  )
  expect(text.split('\n')).toEqual([
    'stream          rows  share',
    '-------------  -----  -----',
    'people         1,300    0.5',
    'job_histories      7',
  ])
})

it('shows the header of a result without rows', () => {
  expect(table(['a', 'bc'], [])).toBe('a  bc\n-  --')
})

const ORIGIN = 'http://service.invalid'
const PATH = '/connector/protimeapi/api/v1/external-references'
const config = {
  environment: { base_url: ORIGIN, auth_url: `${ORIGIN}/tenants/demo`, api_name: 'protimeapi' },
  client_id: 'connector',
  client_secret: 'secret-of-a-test',
}

const reference = (value: string) => ({
  referenceName: 'erp',
  externalReference: value,
  internalReference: '7',
})

/** Empty lists for every collection but one. */
function emptyLists(except: string): void {
  for (const collection of referencedCollections.filter((name) => name !== except)) {
    nock(ORIGIN).get(`${PATH}/${collection}`).reply(200, { value: [] })
  }
}

describe('a second client of the service', () => {
  beforeAll(() => nock.disableNetConnect())
  beforeEach(() => {
    nock.cleanAll()
    nock(ORIGIN).post('/tenants/demo/connect/token').reply(200, { access_token: 'granted' })
  })
  afterAll(() => {
    nock.cleanAll()
    nock.restore()
  })

  describe('all references of the service', () => {
    it('are read over all pages of every collection, with the token', async () => {
      emptyLists('people')
      const withToken = { reqheaders: { authorization: 'Bearer granted' } }
      nock(ORIGIN, withToken)
        .get(`${PATH}/people`)
        .reply(200, { value: [reference('E1')], nextLink: `${PATH}/people?continuationToken=2` })
        .get(`${PATH}/people?continuationToken=2`)
        .reply(200, { value: [reference('E2')] })
      expect(await allReferences(config)).toEqual([
        { collection: 'people', name: 'erp', value: 'E1', internalReference: '7' },
        { collection: 'people', name: 'erp', value: 'E2', internalReference: '7' },
      ])
      expect(nock.pendingMocks()).toEqual([])
    })

    it('are not skipped if a list is refused', async () => {
      emptyLists('people')
      nock(ORIGIN).get(`${PATH}/people`).reply(403, 'no permission')
      await expect(allReferences(config)).rejects.toThrow(
        'The references of people are refused: no permission',
      )
    })
  })

  describe('a reference', () => {
    const reference = { collection: 'people', name: 'erp', value: 'A/1 b' }
    const path = `${PATH}/people/erp/A%2F1%20b`

    it('is put and removed at its path, encoded once', async () => {
      const { put, remove } = createReferenceWriter(config)
      nock(ORIGIN).put(path, { internalReference: '7' }).reply(200)
      await put(reference, 7)
      nock(ORIGIN).post('/tenants/demo/connect/token').reply(200, { access_token: 'granted' })
      nock(ORIGIN).delete(path).reply(204)
      await remove(reference)
      expect(nock.pendingMocks()).toEqual([])
    })

    it('that is refused is not skipped', async () => {
      nock(ORIGIN).put(path).reply(400, 'is linked')
      await expect(createReferenceWriter(config).put(reference, 7)).rejects.toThrow('is linked')
    })
  })
})
