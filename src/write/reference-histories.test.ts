import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { folded, foldedBy } from '../ground/text.ts'
import { createFakeService, FORBIDDEN, RECORDS, write } from './testing/fake-service.ts'
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
            // A service that has a value in two forms tells them apart.
            fc.pre(foldedKeys(stored).size === stored.size)
            const expected = leadingFrom(stored, wanted, noAccess)
            const outcomes = await write(input)
            expect(sorted(stored)).toEqual(sorted(expected))
            expect(outcomes.map(({ ordinal }) => ordinal).toSorted(byNumber)).toEqual([
              ...records.keys(),
            ])
            for (const { ordinal = -1, outcome, status, reason = '' } of outcomes)
              if (outcome === 'rejected' && status === 403) expect(ordinal).toBe(noAccess)
              else if (outcome === 'rejected' && !/another form/.test(reason))
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
          await Promise.all([[], ...runs].map((faults) => write({ ...input, faults })))
          const expected = leadingFrom(stored, wanted)
          await write(input)
          expect(sorted(stored)).toEqual(sorted(expected))
        },
      ),
      parameters,
    )
  })

  it(
    'the references are those also where case or blanks do not count, and the run after asks for nothing that is done',
    UNLIMITED,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          histories(link, fc.record({ value: values, id: ids, spelling: spellingsInForm }), [
            'lost',
            'kill-before',
            'kill-after',
            'other',
          ]),
          fc.constantFrom('two' as const, 'one' as const, 'lower' as const),
          fc.constantFrom('kept' as const, 'joined' as const, 'left out' as const),
          async ({ options, start, wanted, runs, batchSize }, cases, blanks) => {
            const fold = (text: string) => foldedBy(text, { case: cases !== 'two', blanks })
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
            const expected = leadingFrom(stored, changes, -1, fold)
            await write(input)
            expect(sorted(stored, fold)).toEqual(sorted(expected, fold))
            await write(input)
            const before = new Map(stored)
            const outcomes = await write(input)
            expect(stored).toEqual(before)
            for (const { outcome, reason } of outcomes)
              if (outcome === 'rejected') expect(reason).toMatch(/another form/)
              else expect(outcome).toBe('skipped')
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

/**
 * Where changes lead from these links, one after another; of two that have a value in two forms, which are one, and
 * two ids, the later one leads nowhere.
 */
function leadingFrom(
  links: ReadonlyMap<string, string>,
  wanted: readonly Change[],
  noAccess = -1,
  fold: (text: string) => string = folded,
): Map<string, string> {
  const expected = foldedKeys(links, fold)
  const claims = new Map<string, { readonly text: string; readonly id: string }>()
  for (const [i, change] of wanted.entries()) {
    const { value, isUnknown, isDelete, spelling } = change
    const text = spelled(value, spelling)
    const key = fold(text)
    const { internalReference: id } = toRecord(change, i, i === noAccess).data
    const claim = claims.get(key)
    if (isDelete) {
      expected.delete(key)
      claims.delete(key)
    } else if (claim === undefined || claim.text === text || claim.id === id) {
      claims.set(key, { text, id })
      if (!isUnknown && i !== noAccess) relink(expected, key, id)
    }
  }
  return expected
}

function sorted(links: ReadonlyMap<string, string>, fold?: (text: string) => string): unknown {
  return [...foldedKeys(links, fold)].toSorted()
}

function byNumber(a: number | undefined, b: number | undefined): number {
  return (a ?? -1) - (b ?? -1)
}
