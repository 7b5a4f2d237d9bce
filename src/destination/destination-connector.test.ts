import { describe, expect, it } from 'vitest'
import { configSchema, writeSettingsSchema } from '../config/config-faults.ts'
import { destinationSpec } from './destination-connector.ts'

describe('the specification of the destination', () => {
  const { connectionSpecification, ...facts } = destinationSpec()
  const properties = connectionSpecification.properties ?? {}

  it('has the connection settings of spec.json and those of the writer, but none for reading', () => {
    expect(Object.keys(properties)).toEqual([
      'tenant',
      'environment',
      'client_id',
      'client_secret',
      'requests_per_minute',
      'request_timeout_seconds',
      'retry_minutes',
      ...Object.keys(writeSettingsSchema().properties ?? {}),
    ])
    expect(properties['tenant']).toEqual(configSchema().properties?.['tenant'])
    expect(connectionSpecification.required).toEqual(configSchema().required)
  })

  it('gives each setting a title, a description and a position, as forms need them', () => {
    const untold = Object.entries(properties).filter(([, one]) => !one.title || !one.description)
    const orders = Object.values(properties).map((one) => one['order'])
    expect([untold, new Set(orders).size]).toEqual([[], orders.length])
  })

  it('says how streams can be written', () => {
    expect(facts).toMatchObject({
      protocol_version: '0.18.0',
      documentationUrl: expect.stringMatching(/\/docs\/writing\.md$/),
      supported_destination_sync_modes: ['append', 'append_dedup', 'update', 'overwrite'],
    })
  })
})
