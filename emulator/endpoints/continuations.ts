import { ServiceError } from '../http/service-error.ts'
import type { Id } from '../store/store.ts'

/** The tokens that say where the next page of a list starts. */
export interface Continuations {
  /** A token for the records of `list` with an id after `after`. */
  give(list: string, after: Id): string
  /**
   * The id of a token; throws `unknown` (400 or 409) for one that was not given for this list.
   */
  read(list: string, token: string, unknown: 400 | 409): Id
  /** Expires all tokens given so far. */
  expire(status: 400 | 409 | 410): void
}

// Makes plus signs and slashes likely in the Base64 text, which clients must not decode or encode
// twice.
const prefix = '~~~???'

/** Starts without tokens. They contain their meaning, so none is stored. */
export function createContinuations(): Continuations {
  let given = 0
  let expired = 0
  let expiredStatus = 409
  return {
    give(list, after) {
      const text = prefix + JSON.stringify([++given, list, after])
      return Buffer.from(text).toString('base64')
    },
    read(list, token, unknown) {
      const [number, of, after] = parse(token) ?? []
      if (typeof number !== 'number' || of !== list || number > given) {
        throw new ServiceError(unknown, 'The continuation token is not valid')
      }
      if (number <= expired)
        throw new ServiceError(expiredStatus, 'The continuation token has expired')
      return after as Id
    },
    expire(status) {
      expired = given
      expiredStatus = status
    },
  }
}

function parse(token: string): unknown[] | undefined {
  const text = Buffer.from(token, 'base64').toString()
  if (!text.startsWith(prefix)) return undefined
  try {
    const value: unknown = JSON.parse(text.slice(prefix.length))
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
