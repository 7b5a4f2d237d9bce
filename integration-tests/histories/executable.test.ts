import { describe, expect, it } from 'vitest'
import { prove } from './prove.ts'
import { runSettings } from './settings.ts'

const DAY_MS = 86_400_000

describe('any history of a process that dies by SIGKILL', () => {
  it('ends with a warehouse that equals the service', { timeout: DAY_MS }, async () => {
    await expect(prove('executable', runSettings(40))).resolves.toBeUndefined()
  })
})
