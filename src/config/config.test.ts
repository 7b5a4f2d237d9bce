import { describe, expect, it } from 'vitest'
import { readProjectJson } from '../project-files.ts'
import { parseConfig } from './config.ts'
import { LEAST, SECRET } from './testing/least-config.ts'

describe('a configuration', () => {
  it('needs only four values; the rest are the defaults of spec.json', () => {
    expect(parseConfig(LEAST)).toEqual({
      tenant: 'acme',
      baseUrl: 'https://acme.myprotime.eu',
      authUrl: 'https://authentication.myprotime.eu/tenants/acme',
      apiName: 'protimeapi',
      clientId: 'my-id',
      clientSecret: SECRET,
      startDate: undefined,
      company: undefined,
      externalReferences: [],
      activityStructures: [],
      privacy: { mode: 'without_secrets', key: undefined, rules: [], unknownFields: 'keep' },
      concurrency: 4,
      requestsPerMinute: undefined,
      windowDays: 365,
      futureDays: 730,
      historyRefreshDays: 7,
      requestTimeoutSeconds: 120,
      retryMinutes: 10,
      emitsActivateVersions: true,
    })
  })

  it('takes every value that it is given', () => {
    const config = parseConfig({
      ...LEAST,
      start_date: '2024-02-29',
      company: 'Acme NV',
      external_references: [{ collection: 'people', names: ['@badge-number'] }],
      activity_structures: [{ structure_version_id: 'a-b', level: 2 }],
      concurrency: 8,
      requests_per_minute: 600,
      window_days: 30,
      future_days: 0,
      history_refresh_days: 0,
      request_timeout_seconds: 5,
      retry_minutes: 0.5,
    })
    expect(config).toMatchObject({
      startDate: '2024-02-29',
      company: 'Acme NV',
      externalReferences: [{ collection: 'people', names: ['@badge-number'] }],
      activityStructures: [{ structure_version_id: 'a-b', level: 2 }],
      concurrency: 8,
      requestsPerMinute: 600,
      windowDays: 30,
      futureDays: 0,
      historyRefreshDays: 0,
      requestTimeoutSeconds: 5,
      retryMinutes: 0.5,
    })
  })

  it('has no default that spec.json does not show', () => {
    const spec = readProjectJson('#spec') as {
      connectionSpecification: { properties: Record<string, { type: string; default?: unknown }> }
    }
    const shown = Object.values(spec.connectionSpecification.properties).flatMap((property) =>
      typeof property.default === 'number' ? [property.default] : [],
    )
    const taken = Object.values(parseConfig(LEAST)).filter((value) => typeof value === 'number')
    expect(taken.toSorted()).toEqual(shown.toSorted())
  })

  it('may have keys of other tools', () => {
    expect(parseConfig({ ...LEAST, __injected: 1, _comment: 'x', other: {} })).toEqual(
      parseConfig(LEAST),
    )
  })

  it('is left as it was given', () => {
    const input = structuredClone(LEAST)
    parseConfig(input)
    expect(input).toEqual(LEAST)
  })
})
