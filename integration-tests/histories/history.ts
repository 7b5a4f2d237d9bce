import type { EmulatorOptions } from '../../emulator/emulator.ts'
import type { FaultKind } from '../../emulator/http/faults.ts'
import type { ReferenceChoice } from '../../src/config/config.ts'
import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import { type Redaction, redactionOfStream } from '../../src/privacy/redaction.ts'
import type { RulesOf } from './comparison.ts'

/**
 * How much text a record carries: little, so much that it is worth a STATE of its own, or so much
 * that its page is emitted while it arrives.
 */
export type Size = 'small' | 'medium' | 'large'

/** A change of the tenant; numbers pick among what is there when the change happens. */
export type Change = {
  readonly stream: number
  readonly pick: number
  /** Whether it picks among the records that the pages of the list in progress have had. */
  readonly isRead?: true
} & (
  | { readonly kind: 'insert'; readonly day: number; readonly size: Size }
  | { readonly kind: 'update' | 'remove' | 'soft-delete' | 'restore' }
  /** Gives a dated record the day that lies so many days after now. */
  | { readonly kind: 'move'; readonly day: number }
  /** Gives a record a member that no schema knows, or another value than its schema says. */
  | { readonly kind: 'odd'; readonly member: string; readonly value: unknown }
)

/** Something that happens to the service by itself, between syncs or while one reads. */
export type Event =
  | { readonly do: 'change'; readonly change: Change }
  /** The service's clock moves, also back. */
  | { readonly do: 'advance'; readonly hours: number }
  | { readonly do: 'expire-tokens' }
  | { readonly do: 'expire-continuations'; readonly status: 400 | 409 | 410 }
  | { readonly do: 'expire-delta'; readonly stream: number }
  | { readonly do: 'steal-delta'; readonly stream: number }
  | { readonly do: 'reference'; readonly pick: number; readonly isRemoval: boolean }
  /** The service is restored to the content of before so many changes; its delta is silent about it. */
  | { readonly do: 'revert'; readonly stream: number; readonly changes: number }
  /** What the header `Date` of all answers says from now on; undefined for the time of the service. */
  | { readonly do: 'date'; readonly to: string | undefined }

/** A disturbance of the wire, or an error answer, at the n-th request of a path. */
export interface Fault {
  readonly kind: FaultKind | 400 | 401 | 403 | 404 | 405 | 409 | 410 | 414 | 429 | 500 | 503
  /**
   * A list or delta of the stream, or the list of one collection's references. A `list` may also be the
   * first phase of a delta; a `whole-list` is none, and `delta-start` is its first request.
   */
  readonly path:
    | ('token' | 'list' | 'delta' | 'whole-list' | 'delta-start')
    | { readonly references: string }
  readonly stream: number
  readonly skip: number
  readonly times: number
}

/** What the warehouse holds of a sync that was cut off: all it said, or only what a STATE covers. */
export type Kept = 'everything' | 'committed'

/** One sync, with what disturbs it. */
export interface Sync {
  readonly do: 'sync'
  readonly during: readonly { readonly atRequest: number; readonly event: Event }[]
  readonly faults: readonly Fault[]
  /** The line after which the process dies; 0 lets it live. */
  readonly killAfter: number
  readonly kept: Kept
}

/** A sync that nothing disturbs. */
export const QUIET: Sync = { do: 'sync', during: [], faults: [], killAfter: 0, kept: 'committed' }

/** A part of the configuration that changes from the next sync on. */
export type Setting =
  | { readonly set: 'external_references'; readonly to: readonly ReferenceChoice[] }
  | { readonly set: 'start_date'; readonly to: string | undefined }
  | { readonly set: 'personal_data'; readonly to: PrivacyMode }
  /** The levels of the structure that are read. */
  | { readonly set: 'activity_structures'; readonly to: readonly number[] }
  | {
      readonly set:
        | 'history_refresh_days'
        | 'audit_days'
        | 'window_days'
        | 'future_days'
        | 'concurrency'
      readonly to: number
    }

/** What a person chooses anew of streams and columns; it holds from the next sync on. */
export type Choice =
  /** All columns of the stream but these, by their places in its schema. */
  | { readonly do: 'columns'; readonly stream: number; readonly without: readonly number[] }
  /** All streams but these, the last one in any case. */
  | { readonly do: 'select'; readonly without: readonly number[] }
  /** The connector is of a version that does not know this field of the stream, by its place; or of the newest. */
  | { readonly do: 'version'; readonly stream: number; readonly field: number | null }
  /** The tenant of the same name in another environment, or the first one where no domain is given. */
  | {
      readonly do: 'environment'
      readonly domain: string | undefined
      /** Whether a stream is asked for that the history does not have. */
      readonly isOther: boolean
    }
  /** The tenant is found at another address. */
  | { readonly do: 'address'; readonly host: '127.0.0.1' | 'localhost' }

/** One step of a history. */
export type Step =
  | Event
  | Sync
  | Choice
  /** Back to the STATE of an earlier sync; the warehouse goes back too, or keeps what came later. */
  | { readonly do: 'rewind'; readonly syncs: number; readonly isKept: boolean }
  | { readonly do: 'configure'; readonly setting: Setting }
  /** From the next sync on; what the warehouse holds of the stream is cleared with it, or stays. */
  | {
      readonly do: 'switch-mode'
      readonly stream: number
      readonly isCleared: boolean
    }

/** So much that the state has no room for the ids of all that lives. */
interface Crowd {
  /** References of people, whose keys are texts. */
  readonly references: number
  /** Characters of the state of a stream that is not read any more. */
  readonly kept: number
}

/** What a history is about: the service, the configuration, and what happens. */
export interface History {
  readonly streams: readonly string[]
  readonly options: EmulatorOptions
  readonly settings: Readonly<Record<string, unknown>>
  /** What fills the state; left out where nothing does. */
  readonly crowd?: Crowd | undefined
  /** Changes before the first sync. */
  readonly seeded: readonly Change[]
  readonly steps: readonly Step[]
}

/**
 * Whether the syncs run in this process, by the protocol of Airbyte or of Singer, or as processes whose
 * waits and kills are real.
 */
export type Protocol = 'in-process' | 'singer' | 'executable'
/** The same, or by the command `protime sync` into a DuckDB file. */
export type Place = Protocol | 'duckdb'

export const PRIVACY_KEY = 'Wq3-xkT9_mB7vZ2p'
/** The name of the tenant that `run` configures. */
const TENANT = 'demo'

const known = new Map<string, Redaction>()

/** The rules of each stream under a mode; what they do is proved by `proof/privacy.test.ts`. */
export function rulesUnder(mode: PrivacyMode): RulesOf {
  return (stream, row) => {
    const name = `${mode} ${stream.stream}`
    const unknownFields = mode === 'pseudonymised' ? 'drop' : 'keep'
    const pseudonyms = { key: PRIVACY_KEY, tenant: TENANT }
    const redaction =
      known.get(name) ??
      redactionOfStream(stream, { mode, pseudonyms, rules: [], unknownFields } as const)
    known.set(name, redaction)
    const { rules, rulesOf } = redaction
    return rulesOf === undefined ? rules : rulesOf(row as Record<'collection' | 'name', string>)
  }
}

/** The least time between two syncs: a program takes it to start, and the service tells whole seconds. */
export const BETWEEN_SYNCS = { minutes: 1 / 60 }

/** A history as a list that people can read: what the service is, then a step a line. */
export function sentences({ streams, options, settings, crowd, seeded, steps }: History): string {
  const named = (stream: number) => streams[stream % streams.length] ?? ''
  return [
    `streams ${streams.join(', ')}`,
    `service ${JSON.stringify(options)}`,
    `configuration ${JSON.stringify(settings)}`,
    ...(crowd === undefined
      ? []
      : [`${crowd.references} references, and ${crowd.kept} characters of another stream's state`]),
    ...seeded.map((change) => `before: ${changeText(change, named)}`),
    ...steps.map((step, i) => `${i + 1}. ${stepText(step, named)}`),
  ].join('\n')
}

type Named = (stream: number) => string

function stepText(step: Step, named: Named): string {
  if (step.do === 'sync') {
    const parts = [
      ...step.during.map(
        ({ atRequest, event }) => `at request ${atRequest} ${eventText(event, named)}`,
      ),
      ...step.faults.map((fault) => faultText(fault, named)),
      ...(step.killAfter > 0 ? [`killed after line ${step.killAfter}, kept: ${step.kept}`] : []),
    ]
    return ['sync', ...parts].join('; ')
  }
  if (step.do === 'rewind') {
    const rows = step.isKept ? 'with the rows of today' : 'with the rows of that time'
    return `back to the state ${step.syncs} syncs ago, ${rows}`
  }
  if (step.do === 'switch-mode') {
    const data = step.isCleared ? 'cleared with its state' : 'kept'
    return `the sync mode of ${named(step.stream)} is switched, its rows are ${data}`
  }
  if (step.do === 'columns') {
    const which = step.without.length === 0 ? 'all columns' : `all columns but ${step.without}`
    return `${which} of ${named(step.stream)} are selected from now on`
  }
  if (step.do === 'version') {
    const which = step.field === null ? 'newest' : `one before field ${step.field}`
    return `the version of the connector is the ${which} of ${named(step.stream)} from now on`
  }
  if (step.do === 'select') {
    const left = step.without.map(named).join(', ')
    return `all streams${left && ` but ${left}`} are selected from now on`
  }
  if (step.do === 'environment')
    return `the configuration is of ${step.domain ?? 'the first environment'} from now on${step.isOther ? ', and of another stream' : ''}`
  if (step.do === 'address') return `the tenant is found at ${step.host} from now on`
  return step.do === 'configure' ? settingText(step.setting) : eventText(step, named)
}

function eventText(event: Event, named: Named): string {
  if (event.do === 'change') return changeText(event.change, named)
  if (event.do === 'advance') return `${event.hours} hours pass`
  if (event.do === 'expire-tokens') return 'access tokens expire'
  if (event.do === 'expire-continuations') return `continuations expire with ${event.status}`
  if (event.do === 'expire-delta') return `the delta of ${named(event.stream)} expires`
  if (event.do === 'steal-delta') return `somebody steals the delta of ${named(event.stream)}`
  if (event.do === 'revert')
    return `${named(event.stream)} is as it was ${event.changes} changes before`
  if (event.do === 'date') return `answers say ${event.to ?? 'the time again'}`
  return `${event.isRemoval ? 'removes' : 'sets'} the reference ${event.pick}`
}

function changeText(change: Change, named: Named): string {
  const what = `${change.kind} in ${named(change.stream)}`
  const record = `${change.isRead ? 'read record' : 'record'} ${change.pick}`
  if (change.kind === 'insert') {
    return `${what} at day ${change.day}${change.size === 'small' ? '' : `, a ${change.size} record`}`
  }
  if (change.kind === 'odd') {
    const odd = `${JSON.stringify(change.member)}: ${JSON.stringify(change.value)}`
    return `${what} of ${record}: ${odd.slice(0, 100)}`
  }
  return change.kind === 'move'
    ? `${what} of ${record} to day ${change.day}`
    : `${what} of ${record}`
}

function faultText({ kind, path, stream, skip, times }: Fault, named: Named): string {
  const what = pathText(path, named(stream))
  return `${kind} for ${what} after ${skip} requests, ${times} times`
}

function pathText(path: Fault['path'], stream: string): string {
  if (path === 'token') return 'the token'
  if (typeof path === 'object') return `the references of ${path.references}`
  return `the ${path.replace('-', ' ')} of ${stream}`
}

function settingText({ set, to }: Setting): string {
  return `${set} is ${to === undefined ? 'left out' : JSON.stringify(to)} from now on`
}
