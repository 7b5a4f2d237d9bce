import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const names = (file: string) => {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  return new Set(text.match(/\bPROTIME_[A-Z_]+\b/g))
}

/** The tests alone are in such a hurry. */
const OF_TESTS = 'PROTIME_SENSOR_SECONDS'

describe('docs/many-tenants.md', () => {
  it('names every variable of the Dagster project, and no other', () => {
    const known = names('protime_tenants.py')
    known.delete(OF_TESTS)
    expect(names('../../docs/many-tenants.md')).toEqual(known)
  })
})
