import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { folded } from '../ground/folded-text.ts'
import type { Outcome } from './outcome.ts'
import {
  createFakeService,
  FORBIDDEN,
  histories,
  RECORDS,
  spelled,
  spellings,
  values,
  write,
} from './testing/fake-service.ts'

/** `npm run test:histories -- --place write` runs more, with another seed each time. */
const { HISTORIES_RUNS, HISTORIES_SCALE = '1', HISTORIES_PATH: path } = process.env
const numRuns = Number(HISTORIES_RUNS ?? 40 * Number(HISTORIES_SCALE))
const parameters = { numRuns, ...(path !== undefined && { path }) }
const UNLIMITED = { timeout: 86_400_000 }

const ids = fc.integer({ min: 1, max: RECORDS }).map(String)

describe('after any history of faults and kills', () => {
  const link = fc.record({
    value: values,
    id: ids,
    isUnknown: fc.constant(false),
    isDelete: fc.constant(false),
    spelling: fc.constant('plain'),
  })
  const change = fc.record({
    value: values,
    id: ids,
    isUnknown: fc.boolean(),
    isDelete: fc.boolean(),
    spelling: spellings,
  })
  const plain = change.map((one) => ({ ...one, spelling: 'plain' }))
  /** One record that the client has no access to, if there are so many. */
  const forbidden = fc.option(fc.nat({ max: 7 }), { nil: -1 })

  it(
    'the references are those that the records lead to, one after another',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(link, change, ['lost', 'kill-before', 'kill-after', 'other']),
          forbidden,
          async ({ options, start, wanted, runs, batchSize }, noAccess) => {
            const service = createFakeService(options)
            const stored = service.linksOf('people', 'hr')
            for (const { value, id } of start) relink(stored, value, id)
            const records = wanted.map((one, i) => toRecord(one, i, i === noAccess))
            const input = { service, object: 'external_references', records, batchSize } as const
            for (const faults of runs) await write({ ...input, faults })
            const expected = leadingFrom(stored, wanted, noAccess)
            const outcomes = await write(input)
            expect(sorted(stored)).toEqual(sorted(expected))
            expect(outcomes.map(({ ordinal }) => ordinal).toSorted(byNumber)).toEqual([
              ...records.keys(),
            ])
            for (const { ordinal = -1, outcome, status } of outcomes)
              if (outcome === 'rejected' && status === 403) expect(ordinal).toBe(noAccess)
              else if (outcome === 'rejected')
                expect(wanted[ordinal]).toMatchObject({ isUnknown: true, isDelete: false })
          },
        ),
        parameters,
      )
    },
  )

  it(
    'the references are those also where the service answers their list by 404',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(link, plain, ['lost', 'kill-before', 'kill-after']),
          async ({ options, start, wanted, runs, batchSize }) => {
            const rules = { lists: 'missing', secondValue: 'replaces' } as const
            const service = createFakeService({ ...options, ...rules })
            const stored = service.linksOf('people', 'hr')
            for (const { value, id } of start) relink(stored, value, id)
            const records = wanted.map((one, i) => toRecord(one, i))
            const input = { service, object: 'external_references', records, batchSize } as const
            for (const faults of runs) await write({ ...input, faults })
            const before = new Map(stored)
            await write(input)
            const expected = leadingFrom(before, wanted)
            for (const [value, id] of expected) expect(stored.get(value)).toBe(id)
            // What only a record that a later one replaces was in the way of may have stayed.
            for (const [value, id] of stored)
              expect([expected.get(value), before.get(value)]).toContain(id)
          },
        ),
        parameters,
      )
    },
  )

  it('the references are those also where two write them at once', UNLIMITED, async () => {
    await fc.assert(
      fc.asyncProperty(
        histories(link, change, ['none', 'lost', 'kill-before', 'kill-after']),
        async ({ options, start, wanted, runs, batchSize }) => {
          const service = createFakeService(options)
          const stored = service.linksOf('people', 'hr')
          for (const { value, id } of start) relink(stored, value, id)
          const records = wanted.map((one, i) => toRecord(one, i))
          const input = { service, object: 'external_references', records, batchSize } as const
          await Promise.all([[], ...runs].map((faults) => write({ ...input, faults })))
          const expected = leadingFrom(stored, wanted)
          await write(input)
          expect(sorted(stored)).toEqual(sorted(expected))
        },
      ),
      parameters,
    )
  })

  const deaths = fc.array(
    fc.record({
      after: fc.constantFrom('delete' as const, 'refusal' as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 3 },
  )

  it(
    'a link that a refused record was to replace is still there, unless the refusal came too late',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(link, plain, []),
          deaths,
          async ({ options, start, wanted, batchSize }, killed) => {
            const service = createFakeService(options)
            const stored = service.linksOf('people', 'hr')
            for (const { value, id } of start) relink(stored, value, id)
            const expected = new Map(stored)
            const refusedValues = new Set<string>()
            for (const { value, id, isUnknown, isDelete } of wanted) {
              if (isDelete) expected.delete(value)
              else if (isUnknown) refusedValues.add(value)
              else relink(expected, value, id)
            }
            const records = wanted.map((one, i) => toRecord(one, i))
            const input = { service, object: 'external_references', records, batchSize } as const
            for (const death of [...killed, undefined]) await write({ ...input, death })
            const isToldInTime = options.checkedFirst === 'record' && options.unknownRecord === 404
            for (const [value, id] of expected)
              if (isToldInTime || !refusedValues.has(value)) expect(stored.get(value)).toBe(id)
            for (const [value, id] of stored) expect(expected.get(value)).toBe(id)
          },
        ),
        parameters,
      )
    },
  )

  it('no link that is in the way was deleted with relink off', UNLIMITED, async () => {
    await fc.assert(
      fc.asyncProperty(
        histories(link, link, ['lost', 'kill-before', 'kill-after']),
        async ({ options, start, wanted, runs, batchSize }) => {
          const service = createFakeService(options)
          const stored = service.linksOf('people', 'hr')
          for (const { value, id } of start) relink(stored, value, id)
          const expected = new Map(stored)
          for (const { value, id } of wanted) {
            const isFree = ![...expected].some(([v, i]) => (v === value) !== (i === id))
            if (isFree) expected.set(value, id)
          }
          const records = wanted.map((one, i) => toRecord(one, i))
          const input = {
            service,
            object: 'external_references',
            records,
            batchSize,
            settings: { relink: false },
          } as const
          for (const faults of runs) await write({ ...input, faults })
          await write(input)
          for (const [value, id] of start.map(({ value }) => [value, expected.get(value)]))
            if (value !== undefined) expect(stored.get(value)).toBe(id)
          if (runs.length === 0) expect(sorted(stored)).toEqual(sorted(expected))
        },
      ),
      parameters,
    )
  })

  const category = fc.record({
    id: ids,
    isByReference: fc.boolean(),
    name: fc.option(fc.constantFrom('Clerks', 'Employ\u00e9s'), { nil: undefined }),
    spelling: spellings,
    nl: fc.option(fc.constantFrom('Bedienden', null), { nil: undefined }),
    externalCode: fc.option(fc.constantFrom('A', 'B', null), { nil: undefined }),
  })

  it('the job categories have all that the records say, and keep the rest', UNLIMITED, async () => {
    await fc.assert(
      fc.asyncProperty(
        histories(category, category, ['lost', 'kill-before', 'kill-after', 'other']),
        async ({ options, wanted, runs, batchSize }) => {
          const service = createFakeService(options)
          for (let id = 1; id <= RECORDS; id++) {
            const name = { default: `Category ${id}`, translations: { fr: 'Catégorie' } }
            service.categories.set(String(id), { name, externalCode: 'old', version: 1 })
            service.linksOf('job-categories', 'erp').set(`c${id}`, String(id))
          }
          const records = wanted.map(({ id, isByReference, name, nl, externalCode, spelling }) => ({
            data: {
              ...(isByReference ? { externalReferences: { erp: `c${id}` } } : { id: Number(id) }),
              name: {
                default: name && spelled(name, spelling),
                translations: nl === undefined ? undefined : { nl },
              },
              externalCode: externalCode && spelled(externalCode, spelling),
            },
            isDelete: false,
          }))
          const input = { service, object: 'job_categories', records, batchSize } as const
          for (const faults of runs) await write({ ...input, faults })
          const expected = new Map(
            [...service.categories].map(([id, { name, externalCode }]) => [
              id,
              { default: name.default, ...name.translations, externalCode },
            ]),
          )
          for (const { id, name, nl, externalCode } of wanted) {
            const known = expected.get(id)
            const texts = { ...(name && { default: name }), ...given('nl', nl) }
            if (known !== undefined)
              expected.set(id, { ...known, ...texts, ...given('externalCode', externalCode) })
          }
          const outcomes = await write(input)
          expect(outcomes.filter(({ outcome }) => outcome === 'rejected')).toEqual([])
          for (const [id, { name, externalCode }] of service.categories)
            expect({
              ...name.translations,
              default: folded(name.default),
              externalCode: externalCode && folded(externalCode),
            }).toEqual(foldedTexts(expected.get(id)))
          service.writes.length = 0
          const isStable = new Set(wanted.map(({ id }) => id)).size === wanted.length
          await write(input)
          if (isStable) expect(service.writes).toEqual([])
        },
      ),
      parameters,
    )
  })

  const place = fc.record({
    value: values,
    name: fc.constantFrom('North', 'Si\u00e8ge', 'East'),
    isHere: fc.boolean(),
    spelling: spellings,
  })
  type Place = Readonly<{ value: string; name: string; isHere: boolean; spelling: string }>

  /** A service that has these places, and the records that want the others. */
  function placed(service: Service, start: readonly Place[], wanted: readonly Place[]) {
    const stored = service.linksOf('work-locations', 'erp')
    for (const [i, { name, value, isHere }] of start.entries()) {
      const id = String(100 + i)
      service.locations.set(id, { id, name: { default: name } })
      if (isHere) relink(stored, value, id)
    }
    const records = wanted.map(({ value, name, spelling }) => ({
      data: {
        externalReferences: { erp: spelled(value, spelling) },
        name: { default: spelled(name, spelling) },
      },
      isDelete: false,
    }))
    return { stored, records, before: new Set(service.locations.keys()) }
  }

  /** What each record came to is what the service has. */
  function expectTold(
    outcomes: readonly Outcome[],
    wanted: readonly Place[],
    service: Service,
  ): void {
    const stored = foldedKeys(service.linksOf('work-locations', 'erp'))
    for (const { ordinal = -1, outcome, reason } of outcomes) {
      const { value, name } = wanted[ordinal] ?? {}
      const location = service.locations.get(stored.get(value ?? '') ?? '')
      if (outcome === 'rejected') expect(reason).toMatch(/cannot be changed/)
      else if (outcome !== 'ambiguous') expect(folded(location?.name.default ?? '')).toBe(name)
    }
  }

  it(
    'there is one work location for each reference, and none that nobody asked for',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(place, place, ['lost', 'lost-before', 'late', 'kill-before', 'kill-after']),
          async ({ options, start, wanted, runs, batchSize }) => {
            const service = createFakeService(options)
            const { locations } = service
            const { stored, records, before } = placed(service, start, wanted)
            const input = { service, object: 'work_locations', records, batchSize } as const
            for (const faults of runs) await write({ ...input, faults })
            const outcomes = await write(input)
            const linked = [...stored.values()]
            expect(new Set(linked).size).toBe(linked.length)
            for (const id of locations.keys())
              expect(before.has(id) || linked.includes(id)).toBe(true)
            expectTold(outcomes, wanted, service)
            service.writes.length = 0
            await write(input)
            expect(service.writes).toEqual([])
          },
        ),
        parameters,
      )
    },
  )

  it(
    'a work location that two made at once has its reference, or an outcome that names it',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(place, place, []),
          async ({ options, start, wanted, batchSize }) => {
            const service = createFakeService(options)
            const { stored, records, before } = placed(service, start, wanted)
            const input = { service, object: 'work_locations', records, batchSize } as const
            const both = await Promise.all([write(input), write(input)])
            const outcomes = [...both.flat(), ...(await write(input))]
            const named = new Set(outcomes.flatMap(({ ids = [] }) => ids))
            for (const id of service.locations.keys())
              expect(before.has(id) || [...stored.values()].includes(id) || named.has(id)).toBe(
                true,
              )
            service.writes.length = 0
            await write(input)
            expect(service.writes).toEqual([])
          },
        ),
        parameters,
      )
    },
  )
})

type Service = ReturnType<typeof createFakeService>

interface Change {
  readonly value: string
  readonly id: string
  readonly isUnknown: boolean
  readonly isDelete: boolean
  readonly spelling: string
}

function toRecord(
  { value: text, id, isUnknown, isDelete, spelling }: Change,
  i: number,
  isForbidden = false,
) {
  const value = spelled(text, spelling)
  // One of its own: a record that a later one replaces is not sent, and so not refused.
  const unknown = isForbidden ? FORBIDDEN + i : RECORDS + 1 + i
  const internalReference = isUnknown || isForbidden ? String(unknown) : id
  return { data: { collection: 'people', name: 'hr', value, internalReference }, isDelete }
}

/** Where changes lead from these links, one after another. */
function leadingFrom(
  links: ReadonlyMap<string, string>,
  wanted: readonly Change[],
  noAccess = -1,
): Map<string, string> {
  const expected = foldedKeys(links)
  for (const [i, { value, id, isUnknown, isDelete }] of wanted.entries()) {
    if (isDelete) expected.delete(value)
    else if (!isUnknown && i !== noAccess) relink(expected, value, id)
  }
  return expected
}

function foldedKeys(links: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...links].map(([value, id]) => [folded(value), id]))
}

function foldedTexts(fields: object | undefined): object {
  const texts = Object.entries(fields ?? {})
  return Object.fromEntries(
    texts.map(([name, text]) => [name, typeof text === 'string' ? folded(text) : text]),
  )
}

/** The service's rule: one value per record, one record per value. */
function relink(links: Map<string, string>, value: string, id: string): void {
  for (const [other, linked] of links) if (linked === id) links.delete(other)
  links.set(value, id)
}

function given(member: string, text: string | null | undefined): object {
  return text === undefined ? {} : { [member]: text ?? undefined }
}

function sorted(links: ReadonlyMap<string, string>): unknown {
  return [...foldedKeys(links)].toSorted()
}

function byNumber(a: number | undefined, b: number | undefined): number {
  return (a ?? -1) - (b ?? -1)
}
