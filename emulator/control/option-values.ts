import { isLoopbackOrigin } from '../webhooks/destination.ts'

/** What one option means, and which values it takes; `resolveOptions` has its default. */
export interface OptionFacts {
  readonly text: string
  /** `count` is a whole number from 0 on, `size` one from 1 on; a list holds all allowed texts. */
  readonly takes:
    | 'count'
    | 'size'
    | 'switch'
    | 'text'
    | 'rate'
    | 'clients'
    | 'loopback'
    | readonly string[]
  /** Set where there is no flag for the command line. */
  readonly hasNoFlag?: true
  /** Set where the option has no effect after the start. */
  readonly isFixed?: true
}

/**
 * Throws a sentence that names the option and what was `given`, when the option does not take the
 * value.
 */
export function checkValue(
  name: string,
  { takes }: OptionFacts,
  value: unknown,
  given: unknown = value,
): void {
  if (fits(takes, value)) return
  throw new RangeError(`${name} takes ${wordsFor(takes)}, not ${JSON.stringify(given)}`)
}

/** What an option takes, in few words. */
export function wordsFor(takes: OptionFacts['takes']): string {
  return typeof takes === 'string' ? words[takes] : takes.join(' or ')
}

const words = {
  count: 'a whole number',
  size: 'a whole number from 1 on',
  switch: 'true or false',
  text: 'a text',
  rate: '10 or 10/50',
  clients: 'a list of clients',
  loopback: 'an address such as http://127.0.0.1:8080',
} as const

function fits(takes: OptionFacts['takes'], value: unknown): boolean {
  if (typeof takes !== 'string') return takes.some((one) => one === value)
  if (takes === 'switch') return typeof value === 'boolean'
  if (takes === 'text') return typeof value === 'string'
  if (takes === 'clients') return areClients(value)
  if (takes === 'rate') return isRate(value)
  if (takes === 'loopback') return value === null || isLoopbackOrigin(value)
  return Number.isInteger(value) && Number(value) >= (takes === 'size' ? 1 : 0)
}

function isRate(value: unknown): boolean {
  if (value === null) return true
  const { perSecond, bucket } = Object(value) as Record<string, unknown>
  return Number(perSecond) > 0 && Number(bucket) >= 1
}

function areClients(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isClient)
}

function isClient(value: unknown): boolean {
  const { id, secret, scopes } = Object(value) as Record<string, unknown>
  const hasScopes = scopes === undefined || scopes === 'all' || Array.isArray(scopes)
  return typeof id === 'string' && typeof secret === 'string' && hasScopes
}
