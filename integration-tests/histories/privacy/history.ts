import fc from 'fast-check'
import type { ReferenceChoice } from '../../../src/config/config.ts'
import type { FieldRule } from '../../../src/privacy/field-patterns.ts'
import type { PrivacyMode } from '../../../src/privacy/privacy-settings.ts'
import type { JsonSchema } from '../../../src/records/stream-spec.ts'
import { readStreamSchema } from '../../../src/streams/streams.ts'

/** The settings that say what is left out, as they stand in a configuration. */
export interface Treatment {
  readonly personal_data: PrivacyMode
  readonly unknown_fields?: 'keep' | 'drop'
  readonly field_rules: readonly FieldRule[]
  readonly privacy_key: string
  readonly pseudonyms_across_tenants: boolean
  readonly external_references: readonly ReferenceChoice[]
}

/** A member that no schema knows, or a known one with a value of another form. */
export interface Extra {
  /** Which object of the record has it, counted from the outermost one. */
  readonly at: number
  readonly name: string
  readonly form: 'text' | 'number' | 'object' | 'list'
  /** The name of a member inside of an object or a list. */
  readonly inner: string
}

/** A step of a history of personal data. Each value that the service gets is one that it never had. */
export type PrivacyStep =
  | {
      readonly do: 'insert' | 'update'
      readonly stream: number
      readonly pick: number
      readonly extras: readonly Extra[]
    }
  | { readonly do: 'remove' | 'soft-delete'; readonly stream: number; readonly pick: number }
  | { readonly do: 'reference'; readonly name: string; readonly pick: number }
  | { readonly do: 'treat'; readonly treatment: Treatment }
  | PrivacySync

export interface PrivacySync {
  readonly do: 'sync'
  /** A refusal of a stream, with words that name somebody. */
  readonly refusal: { readonly stream: number; readonly status: number } | null
  /** The line after which the reader leaves; 0 lets it stay. A warehouse has no lines. */
  readonly killAfter: number
  /** A warehouse: whether what rows were before is kept, and all is read anew. */
  readonly keepsHistory: boolean
  readonly isFull: boolean
}

export interface PrivacyHistory {
  readonly streams: readonly string[]
  readonly pageSize: number
  /** Every so many-th name is written with an escape by the service; 0 writes all of them as they are. */
  readonly escapes: number
  readonly concurrency: number
  /** A warehouse: whether each sync leaves a copy. */
  readonly publishes: boolean
  readonly treatment: Treatment
  readonly steps: readonly PrivacyStep[]
}

/** Where a history happens: Airbyte's protocol or Singer's, or a file of DuckDB's. */
export type PrivacyPlace = 'in-process' | 'singer' | 'warehouse'

const STREAMS = [
  ...['people', 'people', 'contracts', 'employers', 'departments', 'absences', 'clockings'],
  ...['assignments', 'activity_durations', 'calculated_totals', 'department_histories'],
]

/** Words that name a secret, whatever their spelling. */
const SECRETS = [
  ...['pinCode', 'iban', 'badgeNumber', 'bankAccount', 'password', 'socialSecurityNumber'],
  ...['creditCardNumber', 'rijksregisternummer'],
]
const PLAIN = [
  'shoeSize',
  'remarks',
  'shippingDate',
  'className',
  'é',
  'x',
  'rowid',
  'spinCodeless',
]

/** Whether a name that histories draw is that of a secret. */
export function isSecret(name: string): boolean {
  const letters = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
  return SECRETS.some((secret) => letters.includes(secret.toLowerCase()))
}

const wide = (text: string) =>
  text.replace(/[a-zA-Z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0))

/** A name in another spelling. */
function spelled(names: readonly string[], separators: readonly string[]): fc.Arbitrary<string> {
  const style = fc.record({
    capitals: fc.constantFrom('as they are', 'none', 'all', 'every other'),
    separator: fc.constantFrom(...separators),
    every: fc.constantFrom(0, 1, 3),
  })
  return fc.tuple(fc.constantFrom(...names), style).map(([name, { capitals, separator, every }]) =>
    [...name]
      .map((letter, i) => {
        const isUpper = capitals === 'all' || (capitals === 'every other' && i % 2 === 1)
        const written =
          capitals === 'as they are'
            ? letter
            : isUpper
              ? letter.toUpperCase()
              : letter.toLowerCase()
        return every > 0 && i > 0 && i % every === 0 ? separator + written : written
      })
      .join(''),
  )
}

const secretNames = fc.oneof(
  { weight: 4, arbitrary: spelled(SECRETS, ['_', '-', ' ', '.', '', '\u00a0']) },
  { weight: 1, arbitrary: fc.constantFrom(...SECRETS.map(wide), 'my pin code 2', '@badge-number') },
)

/** Names of the schemas in another spelling, which are treated as those. */
const alike = spelled(
  ['lastName', 'email', 'employeeNumber', 'pinCode', 'name', 'person', 'geolocation'],
  ['_', '-', ' ', ''],
)

function names(place: PrivacyPlace): fc.Arbitrary<string> {
  const known = fc.constantFrom('lastName', 'email', 'externalCode', 'comments', 'name')
  return fc.oneof(
    { weight: 4, arbitrary: secretNames },
    { weight: 3, arbitrary: fc.constantFrom(...PLAIN) },
    { weight: 2, arbitrary: alike },
    // A target of Singer refuses a record that does not fit its schema.
    { weight: place === 'singer' ? 0 : 1, arbitrary: known },
  )
}

function extras(place: PrivacyPlace): fc.Arbitrary<Extra[]> {
  const one = fc.record({
    at: fc.nat(5),
    name: names(place),
    form: fc.constantFrom('text', 'number', 'object', 'list'),
    inner: fc.oneof(secretNames, fc.constantFrom(...PLAIN)),
  })
  return fc.array(one, { maxLength: 3 })
}

/** Every field of the schemas with the objects around it. */
const PATHS = [...new Set(STREAMS)].flatMap((stream) =>
  pathsOf(readStreamSchema(stream)).map((path) => ({ stream, path })),
)

function pathsOf(schema: JsonSchema, at: readonly string[] = []): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = [...at, name]
    const isFixed = at.length === 0 && (name === 'id' || name === 'changeVersion')
    return [...(isFixed ? [] : [path.join('.')]), ...pathsOf(field.items ?? field, path)]
  })
}

const actions = fc.constantFrom('keep', 'drop', 'hash', 'null')
const rules: fc.Arbitrary<FieldRule> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...PATHS), fc.boolean(), actions)
      .map(([{ stream, path }, isWide, rule]) => ({ stream: isWide ? '*' : stream, path, rule })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      stream: fc.constant('*'),
      path: fc.constantFrom(
        ...['*Name', 'person.*', '*.externalReferences', '*.externalReferences.payroll', '*Code'],
        ...['externalReferences', 'externalReferences.bank-account', 'address', '*.id', 'name.*'],
      ),
      rule: actions,
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...PLAIN, 'iban', 'PIN_CODE'),
        fc.constantFrom('', 'x', 'iban'),
        actions,
      )
      .map(([name, inner, rule]) => ({
        stream: '*',
        path: inner === '' ? name : `${name}.${inner}`,
        rule,
        unknown: true,
      })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      stream: fc.constant('external_references'),
      path: fc.constant('value'),
      rule: fc.constantFrom('keep', 'hash', 'drop'),
    }),
  },
)

const treatments: fc.Arbitrary<Treatment> = fc
  .record({
    personal_data: fc.constantFrom<PrivacyMode>(
      ...(['complete', 'without_secrets', 'pseudonymised', 'minimal'] as const),
    ),
    unknown_fields: fc.constantFrom('keep', 'drop', undefined, undefined),
    field_rules: fc.array(rules, { maxLength: 3 }),
    privacy_key: fc.constantFrom('Wq3-xkT9_mB7vZ2p', 'zP4!dR8@uY6#cN1%'),
    pseudonyms_across_tenants: fc.boolean(),
    external_references: fc.constantFrom<ReferenceChoice[]>(
      [],
      [{ collection: 'people', names: ['payroll', '@employee-number'] }],
      [{ collection: 'people', names: ['@badge-number', 'bank-account', 'payroll'] }],
    ),
  })
  .map(({ unknown_fields, ...rest }) =>
    unknown_fields === undefined ? rest : { ...rest, unknown_fields },
  )

function syncs(place: PrivacyPlace): fc.Arbitrary<PrivacySync> {
  // What may pass is asked for again, which costs real time where the retries are real.
  const status = place === 'warehouse' ? fc.constant(400) : fc.constantFrom(400, 403, 503)
  return fc.record({
    do: fc.constant('sync'),
    refusal: fc.option(fc.record({ stream: fc.nat(2), status }), { freq: 6 }),
    killAfter: fc.oneof(
      { weight: 5, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }) },
    ),
    keepsHistory: fc.boolean(),
    isFull: fc.constantFrom(false, false, false, true),
  })
}

/** Histories of a tenant's personal data under changing settings. */
export function privacyHistories(place: PrivacyPlace): fc.Arbitrary<PrivacyHistory> {
  const where = { stream: fc.nat(3), pick: fc.nat(3) }
  const insert = fc.record({ do: fc.constant('insert'), ...where, extras: extras(place) })
  const change = fc.oneof(
    { weight: 2, arbitrary: insert },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('update'), ...where, extras: extras(place) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('remove', 'soft-delete'), ...where }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('reference'),
        name: fc.constantFrom('payroll', 'hr', 'bank-account'),
        pick: fc.nat(3),
      }),
    },
  )
  const treat = fc.record({ do: fc.constant('treat'), treatment: treatments })
  const round = fc
    .tuple(syncs(place), fc.array(change, { maxLength: 3 }), fc.option(treat, { freq: 3 }))
    .map(([sync, changes, treated]): PrivacyStep[] =>
      treated === null ? [sync, ...changes] : [sync, ...changes, treated],
    )
  return fc
    .record({
      streams: fc.uniqueArray(fc.constantFrom(...STREAMS), { minLength: 1, maxLength: 3 }),
      withReferences: fc.constantFrom(false, false, true),
      pageSize: fc.constantFrom(1, 2, 100),
      escapes: fc.constantFrom(0, 1, 2, 7),
      concurrency: fc.constantFrom(1, 4),
      publishes: fc.boolean(),
      treatment: treatments,
      seeded: fc.array(insert, { minLength: 2, maxLength: 5 }),
      rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
    })
    .map(({ streams, withReferences, seeded, rounds, ...rest }) => ({
      ...rest,
      streams: withReferences ? [...streams, 'external_references'] : streams,
      steps: [...seeded, ...rounds.flat()],
    }))
}
