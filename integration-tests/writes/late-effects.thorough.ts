import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parameters, relink, UNLIMITED } from '../../src/write/testing/histories.ts'
import { openTenant, type WritableTenant } from './tenant.ts'

/** Some requests wait for the next one; the longest is past the end of most runs. */
const EFFECTS_MS = [0, 3, 15, 60]

const WRITTEN = /external-references|job-categories|work-locations/

/** A request that is answered by a failure, and takes effect before, at once after, or later. */
const fault = fc
  .record({
    method: fc.constantFrom('PUT', 'POST', 'DELETE'),
    kind: fc.constantFrom(
      ...[302, 307, 400, 401, 403, 408, 409, 422, 500, 503, 524],
      ...(['reset', 'html'] as const),
    ),
    effectMs: fc.constantFrom(undefined, ...EFFECTS_MS),
    skip: fc.nat({ max: 4 }),
  })
  // After a 401, which says that nothing was done, a POST is repeated with a new token.
  .filter(({ method, kind }) => method !== 'POST' || kind !== 401)

const history = fc.record({
  runs: fc.array(fc.array(fault, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 2 }),
  secondValue: fc.constantFrom('replaces' as const, 'conflict' as const),
  links: fc.array(fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 4 })), { maxLength: 4 }),
  references: fc.array(
    fc.record({
      value: fc.nat({ max: 3 }).map((n) => `v${n}`),
      id: fc.integer({ min: 1, max: 4 }),
      isDelete: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  categories: fc.uniqueArray(fc.tuple(fc.constantFrom(1, 2, 3), fc.constantFrom('A', 'B')), {
    selector: ([id]) => id,
  }),
  places: fc.uniqueArray(fc.constantFrom('North', 'South', 'East')),
})

it(
  'after writes that fail and take effect all the same, at once or while others are made, all is as the records say',
  UNLIMITED,
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ runs, secondValue, links, ...wanted }) => {
        const tenant = await openTenant({ secondValue })
        const { emulator } = tenant
        try {
          const start = new Map<string, string>()
          for (const [n, id] of links) relink(start, `v${n}`, String(id))
          for (const [value, id] of start) emulator.setReference('people', 'hr', value, Number(id))
          const objects = recordsOf(wanted)
          for (const faults of runs) {
            for (const { kind, ...rest } of faults) {
              const options = { ...rest, times: 1 }
              const headers = { 'retry-after': '0' }
              if (typeof kind === 'string') emulator.fault(WRITTEN, kind, options)
              else emulator.fail(WRITTEN, kind, { ...options, headers })
            }
            await writeAll(tenant, objects)
            emulator.clearFaults()
            // Timers end in the order of their times.
            await sleep(Math.max(...EFFECTS_MS) + 1)
          }
          const expected = leadingFrom(tenant.links('people', 'hr'), wanted.references)
          const outcomes = await writeAll(tenant, objects)
          expect(outcomes.filter((one) => /rejected|ambiguous|unknown/.test(one))).toEqual([])
          expect(tenant.links('people', 'hr')).toEqual(expected)
          for (const [id, code] of wanted.categories)
            expect(find(tenant, 'job-categories', id)).toMatchObject({ externalCode: code })
          for (const place of wanted.places) {
            const found = emulator
              .all('work-locations')
              .filter(({ name }) => Object(name).default === place)
            expect(found).toHaveLength(1)
            expect(tenant.links('work-locations', 'erp')[place]).toBe(String(found[0]?.['id']))
          }
          const requests = tenant.requested('PUT', 'POST').length
          await writeAll(tenant, objects)
          expect(tenant.requested('PUT', 'POST')).toHaveLength(requests)
        } finally {
          await tenant.close()
        }
      }),
      { ...parameters, numRuns: Math.ceil(parameters.numRuns / 5) },
    )
  },
)

type Wanted = Omit<
  typeof history extends fc.Arbitrary<infer T> ? T : never,
  'runs' | 'secondValue' | 'links'
>

function recordsOf({ references, categories, places }: Wanted): Record<string, object[]> {
  return {
    external_references: references.map(({ value, id, isDelete }) => ({
      ...{ collection: 'people', name: 'hr', value, internalReference: id },
      ...(isDelete && { _deleted: true }),
    })),
    job_categories: categories.map(([id, externalCode]) => ({ id, externalCode })),
    work_locations: places.map((place) => ({ externalReferences: { erp: place }, name: place })),
  }
}

async function writeAll(
  tenant: WritableTenant,
  objects: Record<string, object[]>,
): Promise<string[]> {
  const outcomes: string[] = []
  for (const [object, records] of Object.entries(objects))
    outcomes.push(...(await tenant.write(object, records)).outcomes)
  return outcomes
}

function leadingFrom(
  links: Readonly<Record<string, string>>,
  changes: Wanted['references'],
): Record<string, string> {
  const expected = new Map(Object.entries(links))
  for (const { value, id, isDelete } of changes)
    if (isDelete) expected.delete(value)
    else relink(expected, value, String(id))
  return Object.fromEntries(expected)
}

function find({ emulator }: WritableTenant, collection: string, id: number): unknown {
  return emulator.all(collection).find((one) => one['id'] === id)
}
