import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { folded, formOf } from '../ground/text.ts'
import { createJournal } from './journal.ts'
import {
  createFakeService,
  type FakeService,
  FORBIDDEN,
  RECORDS,
  type RunInput,
  write,
} from './testing/fake-service.ts'
import {
  foldedKeys,
  histories,
  ids,
  parameters,
  relink,
  spelled,
  spellings,
  spellingsInForm,
  UNLIMITED,
  values,
} from './testing/histories.ts'

const A_MINUTE = 60_000
const FAULTS = [
  ...(['lost', 'late', 'later', 'refused', 'late, then refused'] as const),
  ...(['kill-before', 'kill-after'] as const),
] as const

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
          histories(link, change, [...FAULTS, 'other']),
          forbidden,
          async ({ options, start, wanted, runs, batchSize }, noAccess) => {
            const service = createFakeService(options)
            const stored = service.linksOf('people', 'hr')
            for (const { value, id } of start) relink(stored, value, id)
            const records = wanted.map((one, i) => toRecord(one, i, i === noAccess))
            const input = { service, object: 'external_references', records, batchSize } as const
            for (const faults of runs) await write({ ...input, faults })
            service.pass(A_MINUTE)
            // A service that has a value in two forms tells them apart.
            fc.pre(foldedKeys(stored).size === stored.size)
            const expected = leadingFrom(await restored(service), wanted, noAccess)
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
          histories(link, plain, FAULTS),
          async ({ options, start, wanted, runs, batchSize }) => {
            const rules = { lists: 'missing', secondValue: 'replaces' } as const
            const service = createFakeService({ ...options, ...rules })
            const stored = service.linksOf('people', 'hr')
            for (const { value, id } of start) relink(stored, value, id)
            const records = wanted.map((one, i) => toRecord(one, i))
            const input = { service, object: 'external_references', records, batchSize } as const
            for (const faults of runs) await write({ ...input, faults })
            service.pass(A_MINUTE)
            const before = new Map(await restored(service))
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

  it('the references are also right if two programs write them at once', UNLIMITED, async () => {
    await fc.assert(
      fc.asyncProperty(
        histories(link, change, ['none', 'lost', 'kill-before', 'kill-after']),
        async ({ options, start, wanted, runs, batchSize }) => {
          const service = createFakeService(options)
          const stored = service.linksOf('people', 'hr')
          for (const { value, id } of start) relink(stored, value, id)
          const records = wanted.map((one, i) => toRecord(one, i))
          const input = { service, object: 'external_references', records, batchSize } as const
          const each = () => ({ ...input, journal: createJournal() })
          await Promise.all([[], ...runs].map((faults) => write({ ...each(), faults })))
          const expected = leadingFrom(stored, wanted)
          await write(input)
          expect(sorted(stored)).toEqual(sorted(expected))
        },
      ),
      parameters,
    )
  })

  it(
    'a value that is there in another form is rejected where case or blanks do not count, all others are right, and the next run asks for nothing',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(link, fc.record({ value: values, id: ids, spelling: spellingsInForm }), [
            ...FAULTS,
            'other',
          ]),
          fc.constantFrom('two' as const, 'one' as const, 'lower' as const),
          fc.constantFrom('kept' as const, 'joined' as const, 'left out' as const),
          async ({ options, start, wanted, runs, batchSize }, cases, blanks) => {
            const service = createFakeService({ ...options, cases, blanks })
            const stored = service.linksOf('people', 'hr')
            for (const { value, id } of start) relink(stored, value, id)
            // Two values of one record, and two ids of one text, are other contradictions.
            const byId = new Map(wanted.map((one) => [one.id, one]))
            const byText = new Map(
              [...byId.values()].map((one) => [spelled(one.value, one.spelling), one]),
            )
            const changes = [...byText.values()].map((one) => ({
              ...one,
              isUnknown: false,
              isDelete: false,
            }))
            const records = changes.map((one, i) => toRecord(one, i))
            const input = { service, object: 'external_references', records, batchSize } as const
            for (const faults of runs) await write({ ...input, faults })
            service.pass(A_MINUTE)
            const before = new Map(await restored(service))
            // What a record frees may be another form of what another one wants.
            const written = new Set<(typeof records)[number]['data']>()
            let accepted: (typeof records)[number]['data'][] = []
            for (const _ of [...records, undefined]) {
              const outcomes = await write(input)
              accepted = outcomes.flatMap(({ ordinal = -1, outcome, reason = '' }) => {
                if (outcome === 'rejected') expect(reason).toMatch(/in another form/)
                return outcome === 'rejected' ? [] : (records[ordinal]?.data ?? [])
              })
              for (const one of accepted) written.add(one)
            }
            const after = new Map([...stored].map(([value, id]) => [formOf(value), id]))
            for (const { value, internalReference } of accepted)
              expect(stored.get(value) ?? after.get(formOf(value))).toBe(internalReference)
            const touched = new Set(
              [...written].flatMap((one) => [formOf(one.value), one.internalReference]),
            )
            for (const [value, id] of before)
              if (!touched.has(formOf(value)) && !touched.has(id))
                expect(stored.get(value)).toBe(id)
            service.writes.length = 0
            await write(input)
            expect(service.writes).toEqual([])
          },
        ),
        parameters,
      )
    },
  )

  const deaths = fc.array(
    fc.record({
      after: fc.constantFrom('delete' as const, 'refusal' as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 3 },
  )

  it('a link that a refused record was to replace is still there', UNLIMITED, async () => {
    await fc.assert(
      fc.asyncProperty(
        histories(link, plain, []),
        deaths,
        async ({ options, start, wanted, batchSize }, killed) => {
          const service = createFakeService(options)
          const stored = service.linksOf('people', 'hr')
          for (const { value, id } of start) relink(stored, value, id)
          const expected = new Map(stored)
          for (const { value, id, isUnknown, isDelete } of wanted) {
            if (isDelete) expected.delete(value)
            else if (!isUnknown) relink(expected, value, id)
          }
          const records = wanted.map((one, i) => toRecord(one, i))
          const input = { service, object: 'external_references', records, batchSize } as const
          for (const death of [...killed, undefined]) await write({ ...input, death })
          for (const [value, id] of expected) expect(stored.get(value)).toBe(id)
          for (const [value, id] of stored) expect(expected.get(value)).toBe(id)
        },
      ),
      parameters,
    )
  })

  it('no link is lost if the service refuses puts and deletes', UNLIMITED, async () => {
    await fc.assert(
      fc.asyncProperty(
        histories(link, plain, FAULTS),
        fc.constantFrom(400 as const, 409 as const),
        async ({ options, start, wanted, runs, batchSize }, refusesPuts) => {
          const service = createFakeService({ ...options, refusesPuts })
          const stored = service.linksOf('people', 'hr')
          for (const { value, id } of start) relink(stored, value, id)
          const before = new Map(stored)
          const changes = wanted.map((one) => ({ ...one, isDelete: false }))
          const records = changes.map((one, i) => toRecord(one, i))
          const input = { service, object: 'external_references', records, batchSize } as const
          for (const faults of [...runs, []]) await write({ ...input, faults })
          expect(stored).toEqual(before)
        },
      ),
      parameters,
    )
  })

  it('what is told as written stays, whatever request takes effect late', UNLIMITED, async () => {
    await fc.assert(
      fc.asyncProperty(
        histories(link, plain, ['lost', 'late', 'late', 'later']),
        async ({ options, start, wanted, runs: [faults = []], batchSize }) => {
          const service = createFakeService(options)
          const stored = service.linksOf('people', 'hr')
          for (const { value, id } of start) relink(stored, value, id)
          const records = wanted.map((one, i) => toRecord(one, i))
          const input = { service, object: 'external_references', records, batchSize } as const
          const outcomes = await write({ ...input, faults })
          service.pass(A_MINUTE)
          const told = new Map(outcomes.map(({ ordinal = -1, outcome }) => [ordinal, outcome]))
          for (const [i, { value, id, isDelete }] of wanted.entries()) {
            const isLast = !wanted.slice(i + 1).some((one) => one.value === value || one.id === id)
            if (isLast && told.get(i) === 'written') expect(stored.get(value)).toBe(id)
            if (isLast && isDelete && /deleted|absent/.test(told.get(i) ?? ''))
              expect(stored.has(value)).toBe(false)
          }
        },
      ),
      parameters,
    )
  })

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

  it(
    'a mirror takes away no more than it may, whatever the input and the batches',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(link, change, ['lost', 'kill-before', 'kill-after']),
          fc.constantFrom('0', '1', '2', '4', '100%'),
          fc.boolean(),
          async ({ options, start, wanted, runs, batchSize }, most, relinks) => {
            const service = createFakeService(options)
            const stored = service.linksOf('people', 'hr')
            for (const { value, id } of start) relink(stored, value, id)
            const before = new Map(stored)
            const records = wanted.map((one, i) => toRecord(one, i))
            const settings = { mirror: true, max_deletes: most, relink: relinks }
            const input = { service, object: 'external_references', records, batchSize } as const
            const [faults = []] = runs
            await write({ ...input, settings, faults }).catch((error) => {
              if (!(error instanceof ConnectorError)) throw error
            })
            const taken = [...before].filter(([value, id]) => stored.get(value) !== id)
            expect(taken.length).toBeLessThanOrEqual(most === '100%' ? 100 : Number(most))
          },
        ),
        parameters,
      )
    },
  )
})

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
  for (const [i, change] of wanted.entries()) {
    const { value, isUnknown, isDelete, spelling } = change
    const key = folded(spelled(value, spelling))
    if (isDelete) expected.delete(key)
    else if (!isUnknown && i !== noAccess) relink(expected, key, change.id)
  }
  return expected
}

/** The links after a run has restored what an earlier one has deleted: a run of a record that changes nothing. */
async function restored(service: FakeService): Promise<ReadonlyMap<string, string>> {
  const records: RunInput['records'] = [
    { data: { collection: 'people', name: 'hr', value: 'none' }, isDelete: true },
  ]
  await write({ service, object: 'external_references', records })
  return service.linksOf('people', 'hr')
}

function sorted(links: ReadonlyMap<string, string>): unknown {
  return [...foldedKeys(links)].toSorted()
}

function byNumber(a: number | undefined, b: number | undefined): number {
  return (a ?? -1) - (b ?? -1)
}
