import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { folded } from '../ground/text.ts'
import { createJournal } from './journal.ts'
import type { Outcome } from './outcome.ts'
import { createFakeService, type FakeService, RECORDS, write } from './testing/fake-service.ts'
import {
  foldedKeys,
  histories,
  ids,
  parameters,
  relink,
  spelled,
  spellings,
  UNLIMITED,
  values,
} from './testing/histories.ts'

describe('after any history of faults and kills', () => {
  const category = fc.record({
    id: ids,
    by: fc.constantFrom('id', 'reference', 'digits', 'contradiction'),
    name: fc.option(fc.constantFrom('Clerks', 'Employ\u00e9s'), { nil: undefined }),
    spelling: spellings,
    nl: fc.option(fc.constantFrom('Bedienden', null), { nil: undefined }),
    externalCode: fc.option(fc.constantFrom('A', 'B', null), { nil: undefined }),
  })

  it(
    'the job categories have everything in the records, and keep the rest',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(category, category, [
            'lost',
            'late',
            'later',
            'late, then refused',
            'kill-before',
            'kill-after',
            'other',
          ]),
          async ({ options, wanted, runs, batchSize }) => {
            const service = createFakeService(options)
            for (let id = 1; id <= RECORDS; id++) {
              const name = { default: `Category ${id}`, translations: { fr: 'Catégorie' } }
              service.categories.set(String(id), { name, externalCode: 'old', version: 1 })
              service.linksOf('job-categories', 'erp').set(`c${id}`, String(id))
              // The digits of another one.
              service
                .linksOf('job-categories', 'number')
                .set(String((id % RECORDS) + 1), String(id))
            }
            const records = wanted.map(({ id, by, name, nl, externalCode, spelling }) => ({
              data: {
                ...keyOf(id, by),
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
            service.pass(60_000)
            const expected = new Map(
              [...service.categories].map(([id, { name, externalCode }]) => [
                id,
                { default: name.default, ...name.translations, externalCode },
              ]),
            )
            const isRefused = (by: string) =>
              by === 'contradiction' || (by === 'digits' && options.readsDigits)
            for (const { id, by, name, nl, externalCode } of wanted) {
              if (isRefused(by)) continue
              const known = expected.get(id)
              const texts = { ...(name && { default: name }), ...given('nl', nl) }
              if (known !== undefined)
                expected.set(id, { ...known, ...texts, ...given('externalCode', externalCode) })
            }
            const outcomes = await write(input)
            for (const { ordinal = -1, outcome } of outcomes)
              expect(outcome === 'rejected').toBe(isRefused(wanted[ordinal]?.by ?? ''))
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
    },
  )

  const place = fc.record({
    value: values,
    name: fc.constantFrom('North', 'Si\u00e8ge', 'East'),
    isHere: fc.boolean(),
    spelling: spellings,
  })
  type Place = Readonly<{ value: string; name: string; isHere: boolean; spelling: string }>

  /** A service that has these places, and the records that want the others. */
  function placed(service: FakeService, start: readonly Place[], wanted: readonly Place[]) {
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
    service: FakeService,
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
          histories(place, place, [
            ...(['lost', 'lost-before', 'late', 'later', 'kill-before', 'kill-after'] as const),
          ]),
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
            const other = { ...input, journal: createJournal() }
            const both = await Promise.all([write(input), write(other)])
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

function keyOf(id: string, by: string): object {
  const another = String((Number(id) % RECORDS) + 1)
  if (by === 'id') return { id: Number(id) }
  if (by === 'reference') return { externalReferences: { erp: `c${id}` } }
  return by === 'digits'
    ? { externalReferences: { number: another } }
    : { id: Number(id), externalReferences: { erp: `c${another}` } }
}

function foldedTexts(fields: object | undefined): object {
  const texts = Object.entries(fields ?? {})
  return Object.fromEntries(
    texts.map(([name, text]) => [name, typeof text === 'string' ? folded(text) : text]),
  )
}

function given(member: string, text: string | null | undefined): object {
  return text === undefined ? {} : { [member]: text ?? undefined }
}
