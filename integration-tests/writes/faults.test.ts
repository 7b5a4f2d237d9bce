import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { runProtime } from '../../src/cli/main.ts'
import { startChild } from '../testing/child.ts'
import { temporaryFolder } from '../testing/files.ts'
import { createCollector, withoutTimes } from '../testing/output.ts'
import { run } from '../testing/run.ts'
import { openTenant, type WritableTenant } from './tenant.ts'

let tenant: WritableTenant
afterEach(() => tenant.close())

const hr = (value: string, id: number) => ({
  collection: 'people',
  name: 'hr',
  value,
  internalReference: String(id),
})
const sites = () =>
  tenant.emulator.all('work-locations').filter((one) => Object(one['name']).default === 'Nowhere')
const SITE = { externalReferences: { erp: 'N1' }, name: 'Nowhere' }

describe('a run', () => {
  it.each([
    ['a refusal for now', { status: 429, headers: { 'retry-after': '0' } }, 'created'],
    ['maintenance', { status: 503, headers: { 'retry-after': '0' } }, 'unknown'],
    ['a failure', { status: 500 }, 'unknown'],
    ['an expired token', { status: 401 }, 'created'],
  ])('ends as it should after %s', async (_, { status, ...options }, creation) => {
    tenant = await openTenant()
    for (const [path, method] of [
      ['/external-references/people', 'PUT'],
      ['/job-categories', 'PUT'],
      ['/work-locations', 'POST'],
    ] as const)
      tenant.emulator.fail(path, status, { ...options, times: 1, method })
    const outcomes = [
      await tenant.write('external_references', [hr('A', 1)]),
      await tenant.write('job_categories', [{ id: 1, externalCode: 'NEW' }]),
      await tenant.write('work_locations', [SITE]),
    ]
    expect(outcomes.flatMap((one) => one.outcomes)).toEqual(['written', 'written', creation])
    const again = await tenant.write('work_locations', [SITE])
    expect(outcomes[2]?.exitCode).toBe(creation === 'created' ? 0 : 1)
    expect(again.exitCode).toBe(0)
    expect(sites()).toHaveLength(1)
  })

  it.each([403, 409])(
    'creates one work location for two records, if it is created despite the answer %d',
    async (status) => {
      tenant = await openTenant()
      const headers = { location: '/connector/protimeapi/api/v1/work-locations' }
      const options = { headers, effectMs: 0, method: 'POST', times: 5 }
      tenant.emulator.fail('/work-locations', status, options)
      await tenant.write('work_locations', [SITE, SITE])
      expect((await tenant.write('work_locations', [SITE, SITE])).exitCode).toBe(0)
      expect([tenant.requested('POST').length, sites().length]).toEqual([1, 1])
    },
  )

  it('does not know what became of a work location that is not in the list, and says why', async () => {
    tenant = await openTenant()
    tenant.emulator.fail('/work-locations', 409, { method: 'POST', times: 1 })
    const { exitCode, lines } = await tenant.write('work_locations', [SITE])
    const reason = expect.stringMatching(/\(409 for .*later run finds it/)
    expect([exitCode, lines]).toMatchObject([1, [{ outcome: 'unknown', status: 409, reason }]])
    expect((await tenant.write('work_locations', [SITE])).outcomes).toEqual(['created'])
  })

  it('asks for a work location once when it is made after the answer, and the next one finds it', async () => {
    tenant = await openTenant()
    const headers = { 'retry-after': '0' }
    tenant.emulator.fail('/work-locations', 503, { times: 1, method: 'POST', headers })
    const first = await tenant.write('work_locations', [SITE])
    expect([first.exitCode, first.outcomes, first.stderr]).toEqual([
      1,
      ['unknown'],
      expect.stringMatching(/not known whether the service has written 1 record/),
    ])
    tenant.emulator.insert('work-locations', { name: { default: SITE.name } })
    expect((await tenant.write('work_locations', [SITE])).outcomes).toEqual(['adopted'])
    expect([tenant.requested('POST').length, sites().length]).toEqual([1, 1])
  })

  it('rejects the record that the client has no access to, and writes the others', async () => {
    tenant = await openTenant()
    tenant.emulator.fail(/hr\/A$/, 403, { method: 'PUT' })
    const records = [hr('A', 1), hr('B', 2), hr('C', 3)]
    const { exitCode, lines } = await tenant.write('external_references', records)
    expect([exitCode, lines]).toMatchObject([
      1,
      [{ outcome: 'rejected', status: 403 }, { outcome: 'written' }, { outcome: 'written' }],
    ])
  })

  it('ends after three records in a row that the client has no access to', async () => {
    tenant = await openTenant()
    tenant.emulator.fail(/hr\//, 403, { method: 'PUT' })
    const records = Array.from({ length: 12 }, (_, i) => hr(`A${i}`, i + 1))
    const { exitCode, outcomes, stderr } = await tenant.write('external_references', records)
    expect([exitCode, new Set(outcomes), stderr]).toEqual([
      2,
      new Set(['rejected']),
      expect.stringMatching(/3 records in a row were refused in this way/),
    ])
    expect(new Set(tenant.requested('PUT')).size).toBeLessThan(8)
  })

  it('says what it cannot clear, if the service keeps fields that a PUT leaves out', async () => {
    tenant = await openTenant({ leftOut: 'kept' })
    tenant.emulator.update('job-categories', 1, { externalCode: 'OLD' })
    const record = { id: 1, externalCode: null }
    const { exitCode, lines } = await tenant.write('job_categories', [record])
    expect([exitCode, lines]).toMatchObject([
      1,
      [{ outcome: 'rejected', reason: expect.stringMatching(/has kept externalCode/) }],
    ])
  })

  // spec: Authentication 6
  it('names the missing scope, makes no other request, and writes nothing', async () => {
    const scopes = ['job-categories.read', 'external-references.read', 'external-references.write']
    tenant = await openTenant({ clients: [{ id: 'poor', secret: 'secret-of-the-poor', scopes }] })
    const refused = await tenant.write('job_categories', [{ id: 1, externalCode: 'NEW' }])
    expect([refused.exitCode, refused.outcomes, refused.stderr]).toEqual([
      2,
      [],
      expect.stringMatching(/connector-protimeapi-job-categories\.write/),
    ])
    const { exitCode } = await tenant.write('external_references', [hr('A', 1)])
    expect([exitCode, tenant.requested('PUT')]).toEqual([
      0,
      ['PUT /external-references/people/hr/A'],
    ])
  })

  it.each([
    ['external_references', [hr('A', 2), hr('B', 3), { ...hr('C', 4), _deleted: true }]],
    ['job_categories', [{ id: 1, externalCode: 'NEW' }]],
    ['work_locations', [SITE, SITE]],
  ])('of %s that is dry tells what it would do, and writes nothing', async (object, records) => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    tenant.emulator.setReference('people', 'hr', 'C', 4)
    const dry = await tenant.write(object, records, {}, '--dry-run')
    expect(tenant.requested('PUT', 'POST', 'DELETE')).toEqual([])
    expect(withoutTimes(dry.stderr)).toMatch(/^INFO \w+: \d would be .*; nothing was changed\.\n/)
    const real = await tenant.write(object, records)
    expect(real.outcomes).toEqual(dry.outcomes)
  })

  it('that is dry ends with 2 for missing scopes, as a real one does', async () => {
    const clients = [{ id: 'reader', secret: 'secret-of-the-reader' }]
    tenant = await openTenant({ clients })
    for (const words of [['--dry-run'], []]) {
      const { exitCode, stderr, outcomes } = await tenant.write(
        'external_references',
        [hr('A', 1)],
        {},
        ...words,
      )
      expect([exitCode, outcomes, stderr]).toEqual([
        2,
        [],
        'protime: Nothing was written: the client lacks connector-protimeapi-external-references.write. Ask the operator of the service for it. [scope-missing]\n',
      ])
    }
  })

  it('that is dry reports what would be rejected', async () => {
    tenant = await openTenant()
    const records = [hr('A', 1), hr('B', Number.NaN)]
    const { stderr, outcomes } = await tenant.write('external_references', records, {}, '--dry-run')
    expect(outcomes).toEqual(['written', 'rejected'])
    expect(withoutTimes(stderr).split('\n')).toEqual([
      'INFO external_references: 1 would be written, 1 would be rejected; nothing was changed.',
      'WARN 1 record would be rejected, and max_rejected allows 0. Correct these records first. [records-failed]',
      '',
    ])
  })

  it('that is quiet prints only outcomes and warnings', async () => {
    tenant = await openTenant()
    tenant.emulator.setReference('people', 'hr', 'A', 1)
    const records = [hr('A', 2), hr('B', 3)]
    const { stderr, outcomes } = await tenant.write('external_references', records, {}, '--quiet')
    expect(outcomes).toEqual(['written', 'written'])
    expect(withoutTimes(stderr)).toMatch(/^WARN 1 value is taken from another record; .*\n$/)
  })

  it.each([
    // The first PUT asks, and is refused for the link that is in its way; the second puts that as it is.
    ['external_references', [hr('A', 2)], 2, ['written']],
    ['external_references', [hr('A', 2)], 1, ['written']],
    ['work_locations', [SITE], 0, ['adopted']],
  ])(
    'of %s that is killed at a PUT is ended by the next one',
    async (object, records, skip, outcomes) => {
      tenant = await openTenant()
      tenant.emulator.setReference('people', 'hr', 'A', 1)
      const folder = temporaryFolder()
      const [input, config] = [join(folder.path, 'input'), join(folder.path, 'config')]
      writeFileSync(input, records.map((one) => JSON.stringify(one)).join('\n'))
      writeFileSync(config, JSON.stringify(tenant.emulator.config()))
      tenant.emulator.fault('/external-references', 'hang', { times: 1, skip, method: 'PUT' })
      const words = ['write', object, '--from', input, '--config', config]
      const child = startChild('protime', words, { cwd: folder.path })
      const stop = tenant.emulator.onRequest((request) => {
        if (request.method === 'PUT' && tenant.requested('PUT').length > skip)
          child.child.kill('SIGKILL')
      })
      expect(await child.exited).toBe('SIGKILL')
      stop()
      folder.remove()
      expect((await tenant.write(object, records)).outcomes).toEqual(outcomes)
      expect((await tenant.write(object, records)).outcomes).toEqual(['skipped'])
      expect(tenant.requested('POST').length).toBeLessThan(2)
    },
  )

  it('does not wait for another one that writes the same: it ends, and names that process', async () => {
    tenant = await openTenant()
    tenant.emulator.fault('/work-locations', 'hang', { times: 1, method: 'POST' })
    const isAsked = () => tenant.requested('POST').length
    const first = tenant.start('work_locations', [SITE])
    await expect.poll(isAsked, { timeout: 20_000 }).toBe(1)
    const [second, dry, other] = [
      await tenant.write('work_locations', [SITE]),
      await tenant.write('work_locations', [SITE], {}, '--dry-run'),
      await tenant.write('external_references', [hr('A', 1)]),
    ]
    expect([second.exitCode, second.stdout, second.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(`process ${first.child.pid} .* Nothing was written`),
    ])
    expect([dry.exitCode, other.exitCode, isAsked()]).toEqual([0, 0, 1])
    first.child.kill('SIGKILL')
    await first.exited
    expect((await tenant.write('work_locations', [SITE])).outcomes).toEqual(['created'])
  })

  it('fails with 2 for an invalid command line', async () => {
    tenant = await openTenant()
    const ends = [
      await tenant.write('people', []),
      await tenant.write('job_categories', [], {}, '--mirror'),
      await tenant.write('job_categories', [], {}, '--from', 'missing.jsonl'),
    ]
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2])
    expect(tenant.emulator.requests).toEqual([])
  })
})

// spec: Service 4
it('writing back the output of the source makes no request that writes', async () => {
  tenant = await openTenant()
  for (const collection of ['people', 'job-categories', 'work-locations'])
    tenant.emulator.setReference(collection, 'erp', 'É/1', 1)
  const objects = ['external_references', 'job_categories', 'work_locations']
  const config = tenant.emulator.config()
  const { records } = await run({
    program: 'source-protime',
    command: 'read',
    in: 'process',
    config,
    catalog: objects,
  })
  for (const object of objects) {
    const rows = records(object)
    const { exitCode, outcomes } = await tenant.write(object, rows)
    expect([exitCode, [...new Set(outcomes)], outcomes.length]).toEqual([
      0,
      ['skipped'],
      rows.length,
    ])
  }
  expect(tenant.requested('PUT', 'POST', 'DELETE')).toEqual([])
})

it('protime work-locations create creates one, however often it is called', async () => {
  tenant = await openTenant()
  const folder = temporaryFolder()
  const config = join(folder.path, 'config.json')
  writeFileSync(config, JSON.stringify(tenant.emulator.config()))
  const words = ['work-locations', 'create', '--name', 'Nowhere', '--as', 'erp=N=1']
  for (const outcome of ['created', 'skipped']) {
    const [stdout, stderr] = [createCollector(), createCollector()]
    expect(await runProtime([...words, '--config', config], { stdout, stderr })).toBe(0)
    expect(JSON.parse(stdout.text())).toMatchObject({ outcome })
  }
  folder.remove()
  expect(Object.keys(tenant.links('work-locations', 'erp'))).toContain('N=1')
})
