import { streams } from '../../src/streams/streams.ts'
import { expectSame } from './command.ts'
import type { LoadedLanding } from './dbt-landings.ts'
import type { Row, Tenant } from './tenant.ts'

/** The test that fails where a table does not hold what the last sync has handed over. */
export const AUDIT = 'protime_warehouse_equals_service'

const MONTH = '2026-10'

/** Faults of a loader, each in another table: what becomes of a row of the month, and what the audit says. */
const FAULTS: readonly {
  readonly stream: string
  readonly change: (id: unknown) => string
  readonly verdict: string
}[] = [
  {
    stream: 'clockings',
    change: (id) => `delete from clockings where id = ${id}`,
    verdict: 'rows missing',
  },
  {
    stream: 'absences',
    change: () => `insert into absences (id, date) values (-1, '${MONTH}-05')`,
    verdict: 'rows too many',
  },
  {
    stream: 'counters',
    change: (id) => `update counters set id = -1 where id = ${id}`,
    verdict: 'other rows',
  },
  {
    stream: 'breaks',
    change: (id) => `update breaks set "changeVersion" = '0' where id = ${id}`,
    verdict: 'old rows',
  },
  {
    stream: 'paid_presences',
    change: (id) => `update paid_presences set "durationInMinutes" = 7777 where id = ${id}`,
    verdict: 'values changed',
  },
]

/** Makes the faults in the tables of a landing; `before` is what the audit finds without them. */
export async function expectFaultsFound(
  landing: LoadedLanding,
  tenant: Tenant,
  before: readonly string[] = [],
): Promise<void> {
  await landing.change(faultsIn(tenant))
  const parts = FAULTS.map(({ stream, verdict }) => `${stream} ${MONTH}: ${verdict}`)
  expectSame(await found(landing), [...before, ...ofKeys(), ...parts].toSorted())
}

/** The statements that make the faults in the tables of a tenant. */
function faultsIn(tenant: Tenant): string {
  return FAULTS.map(({ stream, change }) => change(rowOf(stream, tenant)['id'])).join(';')
}

/** Where nothing was audited, the keys alone are compared. */
export async function expectFaultsOfKeysFound(
  landing: LoadedLanding,
  tenant: Tenant,
): Promise<void> {
  await landing.change(faultsIn(tenant))
  expectSame(await found(landing), ofKeys())
}

/** What is found of the first three faults whether or not there was an audit. */
function ofKeys(): string[] {
  return FAULTS.slice(0, 3)
    .map(({ stream, verdict }) => `${stream} all: ${verdict}`)
    .toSorted()
}

/** A row of the month. */
function rowOf(name: string, { emulator }: Tenant): Row {
  const { collection = name } = streams.get(name) ?? {}
  const row = emulator.all(collection).find(({ date }) => String(date).startsWith(MONTH))
  if (row === undefined) throw new Error(`${name} has no row of ${MONTH}`)
  return row
}

/** What the audit says of the tables: stream, part and verdict. */
export async function found(landing: LoadedLanding, variables?: object): Promise<string[]> {
  const words = ['--select', '+protime__audit', '--exclude', 'protime_key*', 'protime_documented*']
  const said = await landing.dbt(['build', ...words], variables)
  const lines = [...said.matchAll(/tenant: (\w+ [\w-]+: [a-z ]+), (?:\d+ at|of which)/g)]
  const [, failed = '0'] = new RegExp(`FAIL (\\d+) ${AUDIT}`).exec(said) ?? []
  expectSame([/Done\. PASS=/.test(said), failed], [true, String(lines.length)])
  return lines.map(([, line = '']) => line).toSorted()
}

/**
 * A loader that appends has older versions of all rows, also of rows that are deleted now, and deletes that have no version. What
 * was sent last counts. `deletedAt` is its column of deletes.
 */
export async function expectLastSentCounts(
  landing: LoadedLanding,
  tenant: Tenant,
  deletedAt: string,
): Promise<void> {
  const id = rowOf('clockings', tenant)['id']
  // Without its primary key.
  await landing.change(
    `create table versions as select * from clockings; drop table clockings cascade; alter table versions rename to clockings;
    insert into clockings (id, "changeVersion", date, _ab_cdc_cursor) select id, '0', '${MONTH}-05', 0 from clockings;
    insert into clockings (id, "changeVersion", date) select id, '9', '${MONTH}-06' from clockings where id = ${id}`,
  )
  expectSame(await found(landing), [])
  const latest = 9_007_199_254_740_000
  await landing.change(
    `insert into clockings (id, ${deletedAt}, _ab_cdc_cursor) values (${id}, '2026-11-19 10:00:00', ${latest})`,
  )
  expectSame(await found(landing), [
    `clockings ${MONTH}: rows missing`,
    'clockings all: rows missing',
  ])
  await landing.change(
    `insert into clockings select * from clockings where id = ${id} and "changeVersion" not in ('0', '9');
    update clockings set _ab_cdc_cursor = ${latest + 1} where id = ${id} and "changeVersion" not in ('0', '9')`,
  )
  expectSame(await found(landing), [])
  await landing.change(
    `delete from clockings where "changeVersion" in ('0', '9') or (id = ${id} and ${deletedAt} is not null)`,
  )
}

/** The test of age fails where the rows are older than a variable says, by the day that another one says. */
export async function expectAgeTold(landing: LoadedLanding): Promise<void> {
  const outcome = async (protime_max_age_hours: number | null) => {
    const variables = { protime_now: '2026-11-30', protime_max_age_hours }
    const said = await landing.dbt(['test', '--select', 'protime_fresh'], variables)
    return /PASS|FAIL/.exec(said)?.[0]
  }
  expectSame(
    [await outcome(24), await outcome(1000), await outcome(null)],
    ['FAIL', 'PASS', 'PASS'],
  )
}
