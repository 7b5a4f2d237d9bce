import { ConnectorError } from '../ground/errors.ts'
import { hasAccount } from './account.ts'
import type { Landing, Patience } from './landing.ts'
import { engineOf } from './landings.ts'

/** A warehouse's account of its syncs. */
export interface WarehouseAge {
  readonly tenant: string
  readonly environment: string
  /** The last sync; undefined if there was none. */
  readonly sync: SyncAccount | undefined
  readonly streams: readonly StreamAge[]
}

/** A sync in the file's account; times are ISO texts in UTC. */
interface SyncAccount {
  readonly began: string
  /** Undefined for a sync that was killed. */
  readonly ended: string | undefined
  readonly exit: number | undefined
  /** Where a `--rewrite` reads everything anew that has not ended well; undefined for any other sync. */
  readonly rewrite?: string | undefined
}

export interface StreamAge {
  readonly stream: string
  readonly rows: number
  /** When it was last read to its end; undefined if it never was. */
  readonly lastComplete: string | undefined
  /** Why the last sync failed to read it. */
  readonly failure: string | undefined
  /** The id of that message. */
  readonly failureId: string | undefined
}

/**
 * Reads the age of the rows of a landing; throws for one that is not of a sync. If a `--rewrite` has not ended well since
 * its last sync, that is the last one, and says why streams failed.
 */
export async function readStatus(path: string, patience: Patience): Promise<WarehouseAge> {
  const last = await readAge(path, patience)
  const rewrite = engineOf(path).rewriteOf?.(path)
  const tried = rewrite === undefined ? undefined : await tryAge(rewrite)
  if (tried === undefined || tried.began <= last.began) return last.age
  const { sync, streams } = tried.age
  const failed = new Map(streams.map((one) => [one.stream, one]))
  return {
    ...last.age,
    // What has read everything well, but has not taken the place of this one, has not ended.
    sync: sync && { ...(sync.exit === 0 ? { ...sync, ...NOT_ENDED } : sync), rewrite },
    streams: last.age.streams.map((one) => {
      const { failure, failureId } = failed.get(one.stream) ?? one
      return { ...one, failure, failureId }
    }),
  }
}

const NOT_ENDED = { ended: undefined, exit: undefined }

/** An age, and the exact moment when its last sync began; empty without a sync. */
interface Account {
  readonly age: WarehouseAge
  readonly began: string
}

/**
 * The account of a landing that need not exist, and of which nobody knows whose it is. One that a `--rewrite` fills at this
 * moment has none to read: meanwhile, that of the warehouse holds.
 */
function tryAge(path: string): Promise<Account | undefined> {
  return readAge(path, (open) => open()).catch((error) => {
    if (error instanceof ConnectorError && error.failure !== 'system') return undefined
    throw error
  })
}

async function readAge(path: string, patience: Patience): Promise<Account> {
  const landing = await engineOf(path).read(path, patience)
  return ageIn(landing, path).finally(() => landing.close())
}

async function ageIn(landing: Landing, path: string): Promise<Account> {
  const { account } = landing.sql.schemas
  const hasOwn = await landing.ownTables()
  const isOurs = await hasAccount(landing, path)
  if (!isOurs || !hasOwn('syncs') || !hasOwn('streams'))
    throw new ConnectorError(
      'config',
      'not-a-warehouse',
      `${path} is not a warehouse of protime sync. Name one with --warehouse.`,
    )
  const [owner = []] = await landing.query(
    `SELECT tenant, environment FROM ${account}.owner LIMIT 1`,
  )
  const utc = landing.sql.momentText
  // The latest row: the clock may have been set back since an earlier sync.
  const [sync] = await landing.query(
    `SELECT ${utc('began')}, ${utc('ended')}, exit FROM ${account}.syncs ORDER BY number DESC LIMIT 1`,
  )
  const streams = await landing.query(
    `SELECT stream, coalesce(rows, 0), ${utc('last_complete')}, failure, failure_id FROM ${account}.streams ORDER BY stream`,
  )
  const [tenant, environment] = owner
  const age = {
    tenant: String(tenant),
    environment: String(environment),
    sync: sync && syncOf(sync),
    streams: streams.map(streamOf),
  }
  return { age, began: sync?.[0] ?? '' }
}

type TextRow = readonly (string | null)[]

function syncOf([began, ended, exit]: TextRow): SyncAccount {
  return {
    began: String(secondsOf(began)),
    ended: secondsOf(ended),
    exit: exit ? Number(exit) : undefined,
  }
}

function streamOf([stream, rows, lastComplete, failure, failureId]: TextRow): StreamAge {
  return {
    stream: String(stream),
    rows: Number(rows),
    lastComplete: secondsOf(lastComplete),
    failure: failure || undefined,
    failureId: failureId || undefined,
  }
}

/** A moment without the fraction of its second. */
function secondsOf(moment: string | null | undefined): string | undefined {
  return moment?.replace(/\.\d+/, '')
}
