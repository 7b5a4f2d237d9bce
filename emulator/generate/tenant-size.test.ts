import { expect, it } from 'vitest'
import { startEmulator } from '../emulator.ts'
import { checkTenantSize } from './tenant-size.ts'

it('has room for 3,000 people and 24 months in 4 GB', () => {
  expect(() => checkTenantSize({ people: 3000, months: 24 }, 4e9)).not.toThrow()
})

it('refuses a tenant that does not fit into memory, before it makes one', async () => {
  const started = startEmulator({ people: 100_000_000, months: 24 })
  await expect(started).rejects.toThrow(
    /^100000000 people and 24 months are about 401000 million records, which need [\d.]+ GB of memory. There are [\d.]+ GB: take fewer people or months.$/,
  )
})
