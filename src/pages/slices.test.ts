import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config/config.ts'
import { addDays, windows } from '../ground/days.ts'
import { createEndpoints } from '../http/endpoints.ts'
import { referencedCollections, type Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import { deltaStart, slicesOf } from './slices.ts'

const PREFIX = '/connector/svcapi/api/v1'
const service = createEndpoints({
  baseUrl: 'https://acme.protime.test',
  authUrl: 'https://authentication.protime.test/tenants/acme',
  apiName: 'svcapi',
  company: undefined,
  version: '1.0.0',
})
const config = parseConfig({
  tenant: 'acme',
  environment: { type: 'production' },
  client_id: 'id',
  client_secret: 'secret',
  external_references: [
    { collection: 'people', names: ['@badge-number', 'erp'] },
    { collection: 'terminals', names: ['@external-code'] },
    { collection: 'employers', names: ['erp'] },
  ],
  activity_structures: [
    { structure_version_id: 'v1', level: 1 },
    { structure_version_id: 'v1', level: 2 },
  ],
})

function linksOf(stream: string, range?: { from: string; until: string }): string[] {
  const slices = slicesOf(streams.get(stream) as Stream, range, config, service)
  return slices.map(({ link }) => decodeURIComponent(link.slice(PREFIX.length)))
}

function startOf(stream: string, window: string | null): string {
  const link = deltaStart(streams.get(stream) as Stream, window, config, service)
  return decodeURIComponent(link.slice(PREFIX.length))
}

describe('the lists of a collection', () => {
  // spec: Endpoints: GET /work-locations
  // spec: Work locations: GET
  it('are a single one, without a filter, if it has no dates', () => {
    expect(linksOf('work_locations')).toEqual(['/work-locations'])
  })

  // spec: Filtering: required
  it('are windows of at most a year, with both ends, if it has dates', () => {
    const links = linksOf('breaks', { from: '2024-01-01', until: '2025-06-30' })
    const references = '&externalReferences=(people,@badge-number)(people,erp)'
    expect(links).toEqual([
      `/breaks?filter=date ge '2024-01-01' and date le '2024-12-30'${references}`,
      `/breaks?filter=date ge '2024-12-31' and date le '2025-06-30'${references}`,
    ])
  })

  it('of activity definitions are those of the configured levels', () => {
    expect(linksOf('activity_definitions')).toEqual([
      '/activity-structure-versions/v1/levels/1/activity-definitions',
      '/activity-structure-versions/v1/levels/2/activity-definitions',
    ])
  })

  // spec: Endpoints: GET /external-references/{collectionName}
  it('of external references are those of every collection that takes custom ones', () => {
    expect(linksOf('external_references')).toEqual(
      referencedCollections.map((collection) => `/external-references/${collection}`),
    )
  })

  // spec: Addressing 5
  it.each(['employers', 'work_locations', 'shift_definitions'])(
    'of %s are never asked for references',
    (stream) => {
      expect(linksOf(stream).join()).not.toContain('externalReferences')
    },
  )
})

describe('the start of a delta', () => {
  // spec: Addressing 5
  // spec: Departments, employers, jobs: delta
  // spec: Shift definitions: delta
  // spec: Errors: 400 unsupported query parameter
  it.each(['employers', 'departments', 'jobs', 'shift_definitions'])(
    'of %s has neither a filter nor references',
    (stream) => {
      expect(startOf(stream, null)).toBe(`/${stream.replace('_', '-')}?delta`)
    },
  )

  // spec: Endpoints: GET /access-clockings?delta
  // spec: Access clockings: delta
  // spec: Limits: access-clocking delta range
  it('of a dated collection has a start, no end and no people', () => {
    expect(startOf('access_clockings', '2025-01-01')).toBe(
      "/access-clockings?filter=date ge '2025-01-01'&externalReferences=(people,@badge-number)(people,erp)(terminals,@external-code)&delta",
    )
  })
})

const day = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2060-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

describe('windows of days', () => {
  it('cover every day of the range once, in order, and none is longer than asked', () => {
    fc.assert(
      fc.property(day, fc.nat(3000), fc.integer({ min: 1, max: 365 }), (from, days, length) => {
        const until = addDays(from, days)
        const slices = windows({ from, until }, length)
        let next = from
        for (const slice of slices) {
          assert.equal(slice.from, next)
          assert.ok(slice.until <= until)
          assert.ok(addDays(slice.from, length - 1) >= slice.until)
          next = addDays(slice.until, 1)
        }
        assert.equal(next, addDays(until, 1))
      }),
    )
  })

  it('are none if the range is empty', () => {
    expect(windows({ from: '2026-02-01', until: '2026-01-31' }, 365)).toEqual([])
  })
})
