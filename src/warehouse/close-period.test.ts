import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ask } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { closePeriod, monthOf } from './close-period.ts'
import { type Script, send, sending, streamOf, syncLists } from './testing/list-source.ts'

const { file } = eachWithWarehouse()

const totals = streamOf('totals', {})
const breaks = streamOf('breaks', {})
/** A complete read. */
const whole: Script = async (output) => {
  await send(output, ['{"id":1}'])
  output.note({ type: 'generation complete', generation: 1 })
  await output.complete()
}
const broken: Script = async () => Promise.reject(new Error('not read'))

const sync = (at: string, script = whole, keepsHistory = true, streams = [totals]) =>
  syncLists(file(), new Map(streams.map((stream) => [stream, script])), {
    keepsHistory,
    now: () => new Date(at),
  })
const october = monthOf('2026-10') as NonNullable<ReturnType<typeof monthOf>>
const close = (now: string, streams = ['totals']) =>
  closePeriod({
    path: file(),
    owner: { tenant: 'acme', environment: 'custom', redaction: '' },
    period: october,
    streams,
    now: new Date(now),
    patience: (open) => open(),
    log: { debug() {}, info() {}, warn() {} },
  })
const closes = () =>
  ask(
    file(),
    `SELECT period, first_day::VARCHAR AS first, last_day::VARCHAR AS last,
      strftime(closed_at AT TIME ZONE 'UTC', '%d %H:%M') AS at FROM _protime.closes ORDER BY closed_at`,
  )

describe('a month', () => {
  it.each([
    ['2026-10', '2026-10-01', '2026-10-31', '2026-11-01'],
    ['2026-12', '2026-12-01', '2026-12-31', '2027-01-01'],
    ['2028-02', '2028-02-01', '2028-02-29', '2028-03-01'],
  ])('%s has its days', (period, firstDay, lastDay, end) => {
    expect(monthOf(period)).toEqual({ period, firstDay, lastDay, end })
  })

  it.each(['2026-13', '2026-1', '2026', 'October', '0026-01', '2026-10-01'])(
    'is not %s',
    (text) => {
      expect(monthOf(text)).toBeUndefined()
    },
  )
})

describe('a close', () => {
  it('has the moment of the last commit, each time', async () => {
    await sync('2026-11-02T09:00:00Z')
    expect(await close('2026-11-05T10:00:00Z')).toBe('2026-11-02T09:00:00.000000Z')
    await sync('2026-11-06T09:00:00Z', sending('{"id":2}'))
    await close('2026-11-07T10:00:00Z')
    const days = { period: '2026-10', first: '2026-10-01', last: '2026-10-31' }
    expect(await closes()).toEqual([
      { ...days, at: '02 09:00' },
      { ...days, at: '06 09:00' },
    ])
  })

  it('is refused where there is no warehouse, and makes none', async () => {
    await expect(close('2026-11-05T10:00:00Z')).rejects.toMatchObject({ failure: 'config' })
    expect(existsSync(file())).toBe(false)
  })

  it.each([
    ['no history is kept', 'no-history', '2026-11-02', false, '2026-11-05', ['totals']],
    ['the month is not over', 'period-not-over', '2026-10-31', true, '2026-10-31', ['totals']],
    ['the last sync was before', 'period-not-read', '2026-10-31', true, '2026-11-05', ['totals']],
    ['a stream was never read', 'period-not-read', '2026-11-02', true, '2026-11-05', ['breaks']],
  ] as const)('is refused if %s', async (_, id, synced, keepsHistory, now, streams) => {
    await sync(`${synced}T23:00:00Z`, whole, keepsHistory)
    await expect(close(`${now}T23:30:00Z`, [...streams])).rejects.toMatchObject({
      failure: 'config',
      id,
    })
  })

  it('is refused if the last sync has failed', async () => {
    await sync('2026-11-02T09:00:00Z')
    await sync('2026-11-03T09:00:00Z', broken)
    await expect(close('2026-11-05T10:00:00Z')).rejects.toThrow(
      /^totals: not completed since the sync of 2026-11-03T09:00:00.000000Z, which has failed/,
    )
  })

  it('is refused if the last sync has failed after the clock was set back, until a later one has completed', async () => {
    await sync('2026-11-05T09:00:00Z')
    await sync('2026-11-03T09:00:00Z', broken)
    await sync('2026-11-03T10:00:00Z', whole, true, [breaks])
    await expect(close('2026-11-05T10:00:00Z')).rejects.toThrow(
      /^totals: not completed since the sync of 2026-11-03T09:00:00/,
    )
    await sync('2026-11-03T11:00:00Z')
    expect(await close('2026-11-05T10:00:00Z')).toMatch(/^2026-11-05T09:00:00/)
  })

  it('counts a stream as completed that was read after a sync has failed and the clock was set back', async () => {
    await sync('2026-11-05T09:00:00Z', broken)
    await sync('2026-11-03T09:00:00Z')
    expect(await close('2026-11-05T10:00:00Z')).toMatch(/^2026-11-0/)
  })

  it('is refused if a sync has failed or was killed in a stream that no later one has read', async () => {
    const both = (at: string, script: Script) =>
      syncLists(
        file(),
        new Map([
          [totals, script],
          [breaks, whole],
        ]),
        { keepsHistory: true, now: () => new Date(at) },
      )
    await both('2026-11-02T09:00:00Z', whole)
    await both('2026-11-03T09:00:00Z', broken)
    await sync('2026-11-04T09:00:00Z', whole, true, [breaks])
    const closed = () => close('2026-11-05T10:00:00Z', ['totals', 'breaks'])
    await expect(closed()).rejects.toThrow(
      /^totals: not completed since the sync of 2026-11-03T09:00:00/,
    )
    await sync('2026-11-04T10:00:00Z')
    expect(await closed()).toBe('2026-11-04T10:00:00.000000Z')
  })

  it('is refused if the last sync has left out a stream since the end of the month', async () => {
    await sync('2026-10-30T09:00:00Z', whole, true, [totals, breaks])
    await sync('2026-11-02T09:00:00Z')
    const both = close('2026-11-05T10:00:00Z', ['totals', 'breaks'])
    await expect(both).rejects.toThrow(/^breaks: not completed since 2026-10 was over\./)
    expect(await closes()).toEqual([])
  })
})
