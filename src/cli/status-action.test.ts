import { expect, it } from 'vitest'
import type { WarehouseAge } from '../warehouse/status.ts'
import { statusText } from './status-action.ts'

const NOW = new Date('2026-11-22T12:00:00Z')
const stream = (name: string, lastComplete?: string, failure?: string) => ({
  ...{ stream: name, rows: 3, lastComplete, failure },
})

function shown(found: Partial<WarehouseAge>): string[] {
  const facts = { tenant: 'acme', environment: 'production', sync: undefined, streams: [] }
  return statusText({ ...facts, ...found }, NOW, 200)
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))
}

it('says whose the warehouse is, and how its last sync ended', () => {
  const sync = { began: '2026-11-22T02:00:00Z', ended: '2026-11-22T02:01:00Z', exit: 1 }
  expect(shown({ sync }).slice(0, 2)).toEqual([
    'tenant acme, production',
    'last sync: 2026-11-22T02:00:00Z to 2026-11-22T02:01:00Z, exit code 1',
  ])
  expect(shown({ sync: { ...sync, ended: undefined, exit: undefined } })[1]).toBe(
    'last sync: began 2026-11-22T02:00:00Z, and has not ended or was killed',
  )
  expect(shown({})[1]).toBe('last sync: none')
})

it('says of each stream how old it is and how the next sync reads it', () => {
  const streams = [
    stream('people', '2026-11-22T02:00:00Z'),
    stream('clockings', '2026-11-19T02:00:00Z', 'The service is away.'),
    stream('job_categories', '2026-11-10T02:00:00Z'),
    stream('absences'),
    stream('inventory', '2026-11-22T02:00:00Z'),
  ]
  expect(shown({ streams }).slice(2)).toEqual([
    'stream | rows | last complete | age | next sync | failure',
    'people | 3 | 2026-11-22T02:00:00Z | 10 h | changes',
    'clockings | 3 | 2026-11-19T02:00:00Z | 3 days | from the beginning: expired link | The service is away.',
    'job_categories | 3 | 2026-11-10T02:00:00Z | 12 days | whole list',
    'absences | 3 | never | first read',
    'inventory | 3 | 2026-11-22T02:00:00Z | 10 h | at the end of each sync',
  ])
})
