import { afterEach, describe, expect, it } from 'vitest'
import { openTenant, type WritableTenant } from './tenant.ts'

let tenant: WritableTenant
afterEach(() => tenant.close())

const hr = (value: string, id: string | number, more: object = {}) => ({
  collection: 'people',
  name: 'hr',
  value,
  internalReference: id,
  ...more,
})

describe('references', () => {
  it.each([true, false])(
    'whose value is there in another case are rejected, with relink %s',
    async (relink) => {
      tenant = await openTenant({ referenceCase: 'insensitive' })
      tenant.emulator.setReference('people', 'hr', 'A1', 1)
      const { lines } = await tenant.write('external_references', [hr('a1', 2)], { relink })
      expect(lines).toMatchObject([
        { outcome: 'rejected', reason: expect.stringMatching(/in another form/) },
      ])
      expect([tenant.requested('PUT', 'DELETE'), tenant.links('people', 'hr')]).toEqual([
        [],
        { A1: '1' },
      ])
    },
  )

  it('are deleted in another case, if the service does not tell them apart', async () => {
    tenant = await openTenant({ referenceCase: 'insensitive' })
    tenant.emulator.setReference('people', 'hr', 'hr-1', 1)
    const { outcomes } = await tenant.write('external_references', [
      hr('HR-1', 1, { _deleted: true }),
    ])
    expect([outcomes, tenant.links('people', 'hr')]).toEqual([['deleted'], {}])
  })

  it.each([400, 409])(
    'are neither changed nor deleted if the service answers every PUT by %d',
    async (status) => {
      tenant = await openTenant()
      for (let id = 1; id <= 6; id++) tenant.emulator.setReference('people', 'hr', `old${id}`, id)
      const before = tenant.links('people', 'hr')
      tenant.emulator.fail('/external-references', status, { method: 'PUT' })
      const records = Array.from({ length: 6 }, (_, i) => hr(`new${i}`, i + 1))
      const { exitCode, lines } = await tenant.write('external_references', records)
      expect([exitCode, tenant.requested('DELETE'), tenant.links('people', 'hr')]).toEqual([
        1,
        [],
        before,
      ])
      const reason = expect.stringMatching(/could not be restored, and nothing was deleted/)
      expect(lines).toMatchObject(records.map(() => ({ outcome: 'rejected', status, reason })))
    },
  )

  it('are not reported as deleted because a list that is not understood is taken for empty', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    tenant.emulator.fail(/people\/hr$/, 200, { method: 'GET', body: '{}' })
    const { outcomes } = await tenant.write('external_references', [hr('A', 1, { _deleted: true })])
    expect([outcomes, tenant.links('people', 'hr')]).toEqual([['deleted'], {}])
  })

  it('say what the service says with --show-values only', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    const write = (...words: string[]) =>
      tenant.write('external_references', [hr('A', 2)], { relink: false }, ...words)
    expect((await write()).stdout).not.toMatch(/linked to 1/)
    expect((await write('--show-values')).stdout).toMatch(/linked to 1/)
  })

  it('that a killed run has deleted are restored by the next one, whatever its records are', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    tenant.emulator.fault('/external-references', 'hang', { times: 1, skip: 2, method: 'PUT' })
    const killed = tenant.start('external_references', [hr('A', 2)])
    await expect.poll(() => tenant.requested('PUT').length, { timeout: 20_000 }).toBe(3)
    killed.child.kill('SIGKILL')
    await killed.exited
    expect(tenant.links('people', 'hr')).toEqual({})
    const { outcomes } = await tenant.write('external_references', [hr('B', 3)])
    expect([outcomes, tenant.links('people', 'hr')]).toEqual([['written'], { A: '1', B: '3' }])
  })

  it('name a person by the employee number with --by', async () => {
    tenant = await openTenant()
    const [first] = tenant.emulator.all('people')
    const records = [hr('B1', String(first?.['employeeNumber'])), hr('B2', 'no number')]
    const words = ['--by', 'people:@employee-number'] as const
    const { exitCode, lines } = await tenant.write('external_references', records, {}, ...words)
    expect([exitCode, lines]).toMatchObject([
      1,
      [
        { outcome: 'written' },
        { outcome: 'rejected', reason: 'None of the people has this @employee-number.' },
      ],
    ])
    expect(tenant.links('people', 'hr')).toEqual({ B1: String(first?.['id']) })
  })
})
