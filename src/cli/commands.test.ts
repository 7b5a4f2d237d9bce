import { describe, expect, it } from 'vitest'
import { createMask } from '../ground/mask.ts'
import type { WarehouseAge } from '../warehouse/account.ts'
import { createCommandLog } from './command.ts'
import { recordTable } from './preview-action.ts'
import { statusText } from './status-action.ts'

function logged({ isDebug = false, isQuiet = false, isColoured = false } = {}) {
  let text = ''
  let now = Date.UTC(2026, 10, 22, 18, 20, 11, 999)
  const mask = createMask()
  mask.add('secret-of-acme')
  const write = (more: string) => {
    text += more
  }
  const switches = { isDebug: () => isDebug, isQuiet: () => isQuiet }
  const log = createCommandLog({ ...switches, screen: { isColoured, write }, mask, now: () => now })
  log.debug('a')
  log.info('b')
  now += 1
  log.warn('c secret-of-acme')
  log.error('d\u001b[2J\nINFO forged')
  return text.split('\n')
}

describe('the log of protime', () => {
  it('begins each line with its time in UTC, to the second', () => {
    expect(logged()).toEqual([
      '2026-11-22T18:20:11Z INFO b',
      '2026-11-22T18:20:12Z WARN c ****',
      '2026-11-22T18:20:12Z ERROR d [2J INFO forged',
      '',
    ])
  })

  it('has the requests if they are asked for', () => {
    expect(logged({ isDebug: true })[0]).toBe('2026-11-22T18:20:11Z DEBUG a')
  })

  it('is only warnings and errors if it has to be quiet', () => {
    const levels = logged({ isQuiet: true }).map((line) => line.split(' ')[1])
    expect(levels).toEqual(['WARN', 'ERROR', undefined])
  })

  it('has errors in red on a terminal', () => {
    expect(logged({ isColoured: true })[2]).toMatch(/^[^ ]+Z .\[31mERROR d .*.\[0m$/)
  })
})

describe('the table of a preview', () => {
  const records = [
    '{"id":1,"person":{"id":7,"externalReferences":{"@badge":"A"}},"tags":[1,2]}',
    '{"id":22,"note":"two\\nlines","person":null}',
  ]

  it('has a column for each member, and joins the names of nested ones', () => {
    expect(recordTable(records, 100).split('\n')).toEqual([
      '  id  person.id  person.externalReferences.@badge  tags   note       person',
      '  1   7          A                                 [1,2]',
      '  22                                                      two lines',
    ])
  })

  it('names the columns that do not fit', () => {
    expect(recordTable(records, 20).split('\n')).toEqual([
      '  id  person.id',
      '  1   7',
      '  22',
      '  and 4 more columns: person.externalReferences.@badge, tags, note, person',
    ])
  })

  it('shows names and values that cannot move the cursor or begin a line', () => {
    const record = JSON.stringify({ ['a\u001b[2Jb\nERROR forged\u202e']: '\u009b31mred\u2066' })
    const [header, row] = recordTable([record], 100).split('\n')
    expect([header, row]).toEqual(['  a [2Jb ERROR forged', '   31mred'])
  })

  it('cuts long values, and shows one column however narrow the terminal is', () => {
    const [, row] = recordTable([`{"text":"${'x'.repeat(99)}"}`], 5).split('\n')
    expect(row).toBe(`  ${'x'.repeat(31)}…`)
  })
})

describe('the status of a warehouse', () => {
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

  it('says which tenant the warehouse belongs to, and how its last sync ended', () => {
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

  it('says how old each stream is and how the next sync reads it', () => {
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
})
