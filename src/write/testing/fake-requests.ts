import { ClientError } from '../../client/client-error.ts'
import type { CallOptions } from '../../client/service-client.ts'

/** When a process is killed: after a number of requests that deleted something, or that were refused. */
export interface Death {
  readonly after: 'delete' | 'refusal'
  readonly count: number
}

/** What goes wrong with a request, if anything. */
export type Fault =
  | 'none'
  /** The request is carried out, but its answer is lost; the client repeats idempotent requests. */
  | 'lost'
  /**
   * The request is carried out after a while, and its answer is lost; the client repeats idempotent requests, so they
   * are carried out twice.
   */
  | 'late'
  | 'later'
  /** The request is refused, although nothing is wrong with it. */
  | 'refused'
  /** The request is carried out after a while, its answer is lost, and when the client repeats it, it is refused. */
  | 'late, then refused'
  /** The request is lost, and the client gets no answer. */
  | 'lost-before'
  /** The process is killed before, or after, the request is carried out. */
  | 'kill-before'
  | 'kill-after'
  /** Another program changes something first. */
  | 'other'

/** Thrown where the process is killed, so that it does nothing afterwards. */
export class Killed extends Error {}

/** What the faults of requests do outside of their process. */
interface Effects {
  /** A write was requested. */
  sent(what: string): void
  /** Work is carried out after so many milliseconds. */
  late(work: () => void, ms: number): void
  /** Another program changes something. */
  other(seed: number): void
}

/** The requests of one process, with their faults, until it is killed. */
export class Requests {
  readonly #faults: readonly Fault[]
  readonly #death: Death | undefined
  readonly #effects: Effects
  readonly #busy = new Set<string>()
  #count = 0
  #untilDeath: number
  #isDead = false

  constructor(faults: readonly Fault[], death: Death | undefined, effects: Effects) {
    this.#faults = faults
    this.#death = death
    this.#effects = effects
    this.#untilDeath = death?.count ?? 0
  }

  async send<T>(what: string, work: () => T, { onUncertain }: CallOptions = {}): Promise<T> {
    if (this.#busy.has(what)) throw new Error(`Two requests at a time: ${what}`)
    this.#busy.add(what)
    if (this.#busy.size > 4) throw new Error('More than four requests at a time.')
    const fault = this.#faults[this.#count++] ?? 'none'
    // Parallel requests do not end in the order in which they began.
    for (let turns = this.#count % 3; turns >= 0; turns--) await Promise.resolve()
    this.#busy.delete(what)
    if (this.#isDead || fault === 'kill-before') throw this.#die()
    if (fault === 'other') this.#effects.other(this.#count)
    const isPost = what.startsWith('post')
    const isWrite = /^(put|delete|post) /.test(what)
    if (isWrite) this.#effects.sent(what)
    const lateMs = { late: 35, later: 6000, 'late, then refused': 6000 }[fault as string]
    if (isWrite && lateMs !== undefined) this.#effects.late(() => attempted(work), lateMs)
    if (isPost && isLost(fault)) {
      if (fault === 'lost') work()
      throw lost()
    }
    if (fault === 'refused' && what.startsWith('put ')) throw refused('Not now.')
    if (fault === 'lost' || lateMs !== undefined) onUncertain?.()
    if (isWrite && fault === 'late, then refused') throw refused('Not now.', 400, true)
    const done = work()
    if (fault === 'kill-after') throw this.#die()
    return fault === 'lost' ? work() : done
  }

  /** Notes that a request deleted something or was refused; throws if the process is killed by that. */
  note(what: Death['after']): void {
    if (this.#death?.after === what && --this.#untilDeath === 0) throw this.#die()
  }

  #die(): Killed {
    this.#isDead = true
    return new Killed()
  }
}

function isLost(fault: Fault): boolean {
  return ['lost', 'late', 'late, then refused', 'later', 'lost-before'].includes(fault)
}

/** The service may refuse it by now. */
function attempted(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
  }
}

/** The service's refusal of a request, perhaps after an attempt that it did not answer. */
export function refused(reason: string, status = 400, mayHaveHappened = false): ClientError {
  const facts = { status, reasons: [reason], mayHaveHappened }
  return new ClientError('config', 'x-test', 'refused', facts)
}

function lost(): ClientError {
  return new ClientError('transient', 'x-test', 'no answer', { mayHaveHappened: true })
}
