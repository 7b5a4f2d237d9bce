import { expect, it } from 'vitest'
import { RUNBOOK_SECTIONS } from '../ground/runbook.ts'
import { UsageError } from './command.ts'
import { explain } from './explain-action.ts'

async function explained(id?: string): Promise<string> {
  let printed = ''
  const print = (text: string) => {
    printed += text
    return undefined
  }
  expect(await explain({ print }, id)).toBe(0)
  return printed
}

it('an id is explained by its row of the runbook, as text with whole addresses', async () => {
  expect(await explained('another-consumer')).toBe(`another-consumer
Transient failures: the next run tries again

Another consumer seems to read the changes of this collection

Find the second pipeline of this tenant and stop it: One reader for each collection (https://github.com/source-protime/source-protime/blob/main/docs/how-a-sync-works.md#one-reader-for-each-collection).

https://github.com/source-protime/source-protime/blob/main/docs/runbook.md#another-consumer`)
})

it('a full disk is not explained as a fault that has to be reported', async () => {
  const text = await explained('warehouse-not-written')
  expect(text).toContain('of the machine')
  expect(text).toContain('Free disk space')
  expect(text).not.toMatch(/report/i)
})

it('every id can be explained, and is listed', async () => {
  const ids = RUNBOOK_SECTIONS.flatMap(([, of]) => of)
  const lines = (await explained()).split('\n').map((line) => line.trim())
  expect(ids.filter((id) => !lines.includes(id))).toEqual([])
  for (const id of ids) expect(await explained(id)).toMatch(new RegExp(`^${id}\n.+\n\n.+\n\n.+`))
})

it('an id may have the brackets in which it was printed', async () => {
  expect(await explained('[another-consumer]')).toBe(await explained('another-consumer'))
})

it('an unknown id is a wrong command line, which names the nearest ids', async () => {
  const unknown = explain({ print: () => undefined }, 'start-over')
  await expect(unknown).rejects.toThrow(UsageError)
  await expect(unknown).rejects.toThrow(
    /^no message has the id start-over; the nearest are starts-over, [\w-]+, [\w-]+$/,
  )
})
