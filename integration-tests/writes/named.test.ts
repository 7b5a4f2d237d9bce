import { afterEach, describe, expect, it } from 'vitest'
import { openTenant, type WritableTenant } from './tenant.ts'

let tenant: WritableTenant
afterEach(() => tenant.close())

const category = (id: number) =>
  tenant.emulator.all('job-categories').find((one) => one['id'] === id) as {
    name: { default: string; translations: object }
    externalCode?: string
    changeVersion: string
  }

describe('job categories', () => {
  // spec: Job categories: PUT
  it('keep fields that a record leaves out', async () => {
    tenant = await openTenant()
    const { name } = category(1)
    const { outcomes } = await tenant.write('job_categories', [{ id: 1, externalCode: 'NEW' }])
    expect([outcomes, category(1)]).toMatchObject([['written'], { name, externalCode: 'NEW' }])
  })

  it('have a translation once, in whatever case its language is written', async () => {
    tenant = await openTenant()
    tenant.emulator.update('job-categories', 1, {
      name: { default: 'Bakers', translations: { nl: 'Bakkers', fr: 'Catégorie' } },
    })
    const name = (translations: object) => ({ id: 1, name: { translations } })
    const { outcomes } = await tenant.write('job_categories', [
      name({ NL: 'Bedienden' }),
      name({ nl: 'x', NL: 'y' }),
    ])
    expect(outcomes).toEqual(['written', 'rejected'])
    expect(category(1).name.translations).toEqual({ nl: 'Bedienden', fr: 'Catégorie' })
  })

  it.each([' ', '\u200b', '\u2060\u00a0'])('are not given the invisible name %j', async (name) => {
    tenant = await openTenant()
    const [one, two] = [
      await tenant.write('job_categories', [{ id: 1, name }]),
      await tenant.write('work_locations', [{ externalReferences: { erp: 'N1' }, name }]),
    ]
    expect([one?.outcomes, two?.outcomes]).toEqual([['rejected'], ['rejected']])
    expect(tenant.requested('PUT', 'POST')).toEqual([])
  })

  it('lose fields that a record leaves out with missing_fields empty, but never their name', async () => {
    tenant = await openTenant()
    const { outcomes } = await tenant.write(
      'job_categories',
      [
        { id: 1, externalCode: 'NEW' },
        { id: 2, name: 'Workers' },
      ],
      { missing_fields: 'empty' },
    )
    expect([outcomes, tenant.requested('PUT')]).toEqual([
      ['rejected', 'written'],
      ['PUT /job-categories/2'],
    ])
    expect(category(2).name.default).toBe('Workers')
    expect(category(2)).not.toHaveProperty('externalCode')
  })

  // spec: Errors: 400 validation
  it.each([
    ['a code of 50 characters', { id: 1, externalCode: 'x'.repeat(50) }, 'written', undefined],
    ['a code of 51 characters', { id: 1, externalCode: 'x'.repeat(51) }, 'rejected', undefined],
    [
      'an unknown language',
      { id: 1, name: { translations: { 'xx-INVALID': 'x' } } },
      'rejected',
      400,
    ],
    ['an unknown id', { id: 999999, externalCode: 'x' }, 'rejected', 404],
    ['a text in place of an id', { id: 'BAKER' }, 'rejected', undefined],
    ['no key', { name: 'x' }, 'rejected', undefined],
    ['a deletion', { id: 1, _deleted: true }, 'rejected', undefined],
  ])('with %s: %j is %s', async (_, record, outcome, status) => {
    tenant = await openTenant()
    const { lines, exitCode } = await tenant.write('job_categories', [
      record,
      { id: 2, externalCode: 'OTHER' },
    ])
    expect(lines).toMatchObject([{ outcome, ...(status && { status }) }, { outcome: 'written' }])
    expect(exitCode).toBe(outcome === 'rejected' ? 1 : 0)
  })

  // spec: Addressing: PUT
  it('are found by a custom reference that the query names', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('job-categories', 'erp', 'B/1', 1)
    const record = { externalReferences: { erp: 'B/1', other: 'x' }, externalCode: 'NEW' }
    const settings = { job_category_reference: 'erp' }
    const { outcomes } = await tenant.write('job_categories', [record], settings)
    expect([outcomes, category(1).externalCode]).toEqual([['written'], 'NEW'])
    const found = tenant.emulator.requests.find(({ path }) => path.endsWith('/B%2F1'))
    expect(decodeURIComponent(found?.query ?? '')).toBe('externalReferences=(job-categories,erp)')
    // What was read is what is put.
    expect(tenant.requested('PUT')).toEqual(['PUT /job-categories/1'])
  })

  it.each([
    ['another one', { erp: '2' }],
    ['one that is not there', { erp: '999' }],
  ])('are never taken for %s whose id is the value of the reference', async (_, references) => {
    tenant = await openTenant({ integerReference: 'id' })
    tenant.emulator.setReference('job-categories', 'erp', references.erp, 1)
    const record = { externalReferences: references, externalCode: 'NEW' }
    const { outcomes } = await tenant.write('job_categories', [record])
    expect([outcomes, tenant.requested('PUT')]).toEqual([['rejected'], []])
  })

  it('have a reference whose value is their own id', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('job-categories', 'erp', '1', 1)
    const record = { externalReferences: { erp: 1 }, externalCode: 'NEW' }
    expect((await tenant.write('job_categories', [record])).outcomes).toEqual(['written'])
  })

  it.each(['precondition-failed', 'conflict', 'weak'] as const)(
    'that were changed in between are merged again (%s)',
    async (etags) => {
      tenant = await openTenant({ etags })
      let isChanged = false
      tenant.emulator.onRequest(({ method }) => {
        if (method !== 'PUT' || isChanged) return
        isChanged = true
        tenant.emulator.update('job-categories', 1, { externalCode: 'THEIRS' })
      })
      const record = { id: 1, name: { default: 'Ours' } }
      const { outcomes } = await tenant.write('job_categories', [record])
      expect([outcomes, category(1)]).toMatchObject([
        ['written'],
        { name: { default: 'Ours' }, externalCode: 'THEIRS' },
      ])
    },
  )

  it('that are equal are not put', async () => {
    tenant = await openTenant()
    const before = category(1)
    const { outcomes } = await tenant.write('job_categories', [before])
    expect([outcomes, tenant.requested('PUT'), category(1)]).toEqual([['skipped'], [], before])
  })
})

describe('work locations', () => {
  const record = { externalReferences: { erp: 'N1' }, name: 'Nowhere', description: 'Hall 1' }
  const named = () =>
    tenant.emulator.all('work-locations').filter((one) => Object(one['name']).default === 'Nowhere')

  // spec: Work locations: POST
  it('are created once, with a reference, and never changed', async () => {
    tenant = await openTenant()
    const first = await tenant.write('work_locations', [record])
    const second = await tenant.write('work_locations', [record])
    const third = await tenant.write('work_locations', [{ ...record, name: 'Elsewhere' }])
    expect([first.outcomes, second.outcomes, third.lines]).toMatchObject([
      ['created'],
      ['skipped'],
      [{ outcome: 'rejected', reason: expect.stringMatching(/cannot be changed by this API/) }],
    ])
    expect(tenant.requested('POST')).toHaveLength(1)
    expect(tenant.links('work-locations', 'erp')).toEqual({ N1: String(named()[0]?.['id']) })
  })

  it.each(['relative', 'absolute'] as const)(
    'have their id in a Location that is %s',
    async (location) => {
      tenant = await openTenant({ location })
      expect((await tenant.write('work_locations', [record])).outcomes).toEqual(['created'])
      expect(tenant.requested('GET').filter((one) => one === 'GET /work-locations')).toHaveLength(1)
    },
  )
})
