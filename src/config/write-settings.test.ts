import { expect, it } from 'vitest'
import { parseWriteSettings } from './write-settings.ts'

it('the settings of the writer have defaults, and leave those of the reader alone', () => {
  expect(parseWriteSettings({ tenant: 'acme', environment: { type: 'production' } })).toEqual({
    relink: true,
    missingFields: 'keep',
    mirror: false,
    maxRejected: 0,
    dryRun: false,
    jobCategoryReference: undefined,
    workLocationReference: undefined,
    rejectedRecords: undefined,
  })
})

it.each([
  [{ missing_fields: 'kept' }, /missing_fields must be one of keep, empty/],
  [{ max_rejected: -1 }, /max_rejected must be a number from 0/],
  [{ relink: 'yes' }, /relink must be true or false/],
  [{ job_category_reference: '@x' }, /job_category_reference must have the form/],
])('%j is a fault', (input, message) => {
  expect(() => parseWriteSettings(input)).toThrow(message)
})
