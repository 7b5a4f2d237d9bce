import { describe, expect, it } from 'vitest'
import { prove } from './prove.ts'
import { runSettings } from './settings.ts'

/** Long enough for thousands of histories. */
const DAY_MS = 86_400_000

describe('any history', () => {
  it('ends with a warehouse that equals the service', { timeout: DAY_MS }, async () => {
    await expect(prove('in-process', runSettings(170))).resolves.toBeUndefined()
  })
})
