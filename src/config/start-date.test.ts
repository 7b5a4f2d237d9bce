import { describe, expect, it } from 'vitest'
import { parseConfig } from './config.ts'

const startOf = (start_date: string) =>
  parseConfig({
    tenant: 'acme',
    environment: { type: 'production' },
    client_id: 'i',
    client_secret: 's',
    start_date,
  }).startDate

describe('the start date', () => {
  it.each(['2026-01-02T00:00:00Z', '2026-01-02T00:00:00', '2026-01-02T23:59:59.5+01:00'])(
    'may have a time, as runners write it: %s',
    (text) => {
      expect(startOf(text)).toBe('2026-01-02')
    },
  )

  it.each(['2026-01-02Z', '2026-01-02T', '2026-01-02T10:00 o’clock'])(
    'has nothing else behind the day: %s',
    (text) => {
      expect(() => startOf(text)).toThrow('start_date must have the form: YYYY-MM-DD')
    },
  )
})
