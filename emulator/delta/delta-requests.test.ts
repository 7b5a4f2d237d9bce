import { afterEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect } from '../test-client.ts'

let emulator: Emulator
afterEach(() => emulator.close())

// spec: Access clockings: delta
// spec: Departments, employers, jobs: delta
// spec: Limits: access-clocking delta start date
// spec: Limits: access-clocking delta range
it.each([
  ['without a date', '/clockings?delta'],
  ['without a start', "/clockings?filter=date le '2026-11-01'&delta"],
  ['with a start today', "/clockings?filter=date ge '2026-11-20'&delta"],
  ['with a start before last year', "/clockings?filter=date ge '2024-12-31'&delta"],
  [
    'with more than a year',
    "/clockings?filter=date ge '2025-01-01' and date le '2026-01-03'&delta",
  ],
  ['with people', "/clockings?filter=date ge '2026-10-01' and person eq 1&delta"],
  ['with people of contracts', '/contracts?filter=person eq 1&delta'],
  ['with a filter of departments', '/departments?filter=person eq 1&delta'],
  ['with references of jobs', '/jobs?externalReferences=(jobs,x)&delta'],
  ['with a token that is none', '/delta/people?deltaToken=abc'],
  ['with a filter on a delta link', '/delta/departments?deltaToken=abc&filter=person eq 1'],
])('is refused %s', async (_, path) => {
  emulator = await startEmulator({ people: 1, months: 0 })
  expect(await (await connect(emulator)).get(path)).toMatchObject({ status: 400 })
})

it('starts by the flag alone or by its value true', async () => {
  emulator = await startEmulator({ people: 1, months: 0 })
  const client = await connect(emulator)
  const isDelta = async (flag: string) => {
    const { status, body } = await client.get(`/jobs?${flag}`)
    return status === 200 ? 'deltaLink' in body : status
  }
  const flags = ['delta', 'delta=', 'delta=true', 'delta=false', 'delta=maybe']
  expect(await Promise.all(flags.map(isDelta))).toEqual([true, true, true, false, 400])
})

// spec: Addressing 5
// spec: Departments, employers, jobs: delta
// spec: Errors: 400 unsupported query parameter
it.each([
  ['/departments?delta', '&filter=person eq 1'],
  ['/departments?delta', '&externalReferences=(departments,hr-code)'],
  ['/contracts?delta', '&filter=person eq 1'],
])('refuses more than the link says on the next page of %s (%s)', async (path, more) => {
  emulator = await startEmulator({ people: 5, months: 0, pageSize: 2 })
  const client = await connect(emulator)
  const { body } = await client.get(path)
  expect(await client.get(body.nextLink + more)).toMatchObject({ status: 400 })
})

it('refuses another filter than that of its start on the next page', async () => {
  emulator = await startEmulator({ people: 3, months: 1, pageSize: 10 })
  const client = await connect(emulator)
  const { body } = await client.get("/clockings?filter=date ge '2026-10-01'&delta")
  const other = body.nextLink.replace('2026-10-01', '2026-10-02')
  const statuses = [await client.get(other), await client.get(body.nextLink)]
  expect(statuses.map(({ status }) => status)).toEqual([400, 200])
})

it('does not load again by the token of a delta link', async () => {
  emulator = await startEmulator({ people: 1, months: 0 })
  const client = await connect(emulator)
  const { body } = await client.get('/jobs?delta')
  const token = body.deltaLink.split('?')[1]
  expect(await client.get(`/jobs?${token}`)).toMatchObject({ status: 400 })
})

it('does not give changes by the token of a page of its first phase', async () => {
  emulator = await startEmulator({ people: 5, months: 0, pageSize: 2 })
  const client = await connect(emulator)
  const { body } = await client.get('/people?delta')
  const [, token] = body.nextLink.split(/&(?=deltaToken)/)
  expect(await client.get(`/delta/people?${token}`)).toMatchObject({ status: 400 })
})
