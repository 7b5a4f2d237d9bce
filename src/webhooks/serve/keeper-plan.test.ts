import { describe, expect, it } from 'vitest'
import type { Webhook } from '../../client/service-client.ts'
import {
  faultOf,
  isDeleted,
  type KeeperAction,
  type KeeperFacts,
  planKeeping,
} from './keeper-plan.ts'
import type { StoredHook } from './store.ts'

const NOW = new Date('2026-07-15T12:00:00Z')
const at = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000)
const PUBLIC_URL = 'https://hooks.acme.example'
const urlOf = (nonce: string) => `${PUBLIC_URL}/hooks/people/${nonce.padEnd(20, '0')}`

const hook = (change: Partial<StoredHook> = {}): StoredHook => ({
  collection: 'people',
  destinationUrl: urlOf('a'),
  state: 'live',
  id: '1',
  key: 'key',
  createdAt: at(-48).toISOString(),
  ...change,
})
const record = (change: Partial<Webhook> = {}): Webhook => ({
  id: '1',
  collectionName: 'people',
  destinationUrl: urlOf('a'),
  status: 'Enabled',
  validUntil: at(24 * 30),
  externalReferences: undefined,
  ...change,
})

const disabled = { status: 'Disabled' } as const
const starting = { status: 'Uninitialized' } as const

describe('a webhook', () => {
  const soon = (hours: number) => ({
    why: `it expires at ${at(hours).toISOString()}`,
    isOver: false,
  })
  const expired = (hours: number) => ({
    why: `it expired at ${at(hours).toISOString()}`,
    isOver: true,
  })
  it.each([
    ['that is valid for long', record(), undefined],
    ['without an end', record({ validUntil: undefined }), undefined],
    ['that is gone', undefined, { why: 'it no longer exists', isOver: true }],
    ['that is disabled', record(disabled), { why: 'its status is Disabled', isOver: true }],
    ['that has expired', record({ validUntil: at(-1) }), expired(-1)],
    ['that expires now', record({ validUntil: NOW }), expired(0)],
    ['that expires soon', record({ validUntil: at(2) }), soon(2)],
    // It was created 48 hours ago: a quarter of its validity is left.
    ['with a quarter of its validity', record({ validUntil: at(16) }), undefined],
    ['with less than a quarter', record({ validUntil: at(15.9) }), soon(15.9)],
  ])('%s has the fault %j', (_, found, fault) => {
    expect(faultOf(hook(), found, NOW)).toEqual(fault)
  })

  it.each([{ createdAt: at(-1000).toISOString() }, { createdAt: undefined as never }])(
    'expires soon a day before its end if it was created long ago: %j',
    (created) => {
      const faults = [23.9, 24].map((hours) =>
        faultOf(hook(created), record({ validUntil: at(hours) }), NOW),
      )
      expect(faults).toEqual([soon(23.9), undefined])
    },
  )

  it.each([
    ['Deleted', true],
    ['soft-deleted', true],
    ['SoftDeleted', true],
    ['Disabled', false],
  ])('with the status %s is deleted: %s', (status, expected) => {
    expect(isDeleted(record({ status }))).toBe(expected)
  })
})

/** An action in a line. */
function told(action: KeeperAction): string {
  switch (action.do) {
    case 'create':
      return creation(action.why, { ...action, over: action.over.map(({ id }) => id).join(' ') })
    case 'delete':
      return `delete ${action.id}: ${action.why}`
    case 'retire':
      return `retire ${action.hook.id}: ${action.why}`
    case 'forget':
      return `forget ${action.hook.id ?? 'one without an id'}`
    case 'warn':
      return `warn${action.about === undefined ? '' : ` about ${action.about.id}`}: ${action.warning.message}`
  }
}

function creation(why?: string, { over = '', tries = 0, failures = 0 } = {}): string {
  return `create, because ${why}; over: [${over}]; ${tries} tries; ${failures} failures`
}

const paused = (why: string, pause: string) =>
  `warn: ${why}. To avoid creating many, the next one is created ${pause} after the previous one.`
const unusable = (why: string, pause: string) => paused(`The webhook cannot be used: ${why}`, pause)

describe('the plan', () => {
  /** A webhook that was created so many hours ago. */
  const made = (hours: number, change: Partial<StoredHook> = {}) =>
    hook({ createdAt: at(-hours).toISOString(), ...change })
  const creating = (hours: number, change: Partial<StoredHook> = {}) => {
    const { id: _, key: __, ...requested } = made(hours, change)
    return { ...requested, state: 'creating' } as StoredHook
  }
  const retired = (hours: number, change: Partial<StoredHook> = {}) =>
    hook({ state: 'retiring', retiredAt: at(hours).toISOString(), ...change })
  const second = { id: '2', destinationUrl: urlOf('b') }
  const at2 = at(2).toISOString()
  const old = { destinationUrl: 'https://old.example/hooks/people/00000000000000000000' }
  const stranger = (change: Partial<Webhook>) => record({ id: '2', ...change })

  it.each<[string, StoredHook[], Webhook[], string[]]>([
    ['nothing yet', [], [], [creation()]],
    ['a usable one', [hook()], [record()], []],
    ['a lost one', [hook()], [], [creation('it no longer exists', { over: '1' })]],
    ['a lost one that is new', [made(0.5)], [], [unusable('it no longer exists', '1 hour')]],
    [
      'one that ends soon',
      [hook()],
      [record({ validUntil: at(2) })],
      [creation(`it expires at ${at2}`)],
    ],
    [
      'one that ends soon and has a successor',
      [hook(), made(2, second)],
      [record({ validUntil: at(2) }), record(second)],
      [`retire 1: it expires at ${at2}`],
    ],
    [
      'two usable ones',
      [hook(), made(2, second)],
      [record(), record(second)],
      ['retire 1: it has a successor'],
    ],
    [
      'one whose key is lost',
      [creating(48)],
      [record()],
      ['delete 1: its key did not reach the store', creation(undefined, { failures: 1 })],
    ],
    [
      'one that was never created',
      [creating(48)],
      [],
      ['forget one without an id', creation(undefined, { failures: 1 })],
    ],
    [
      'one whose creation failed just now',
      [creating(0.001)],
      [],
      [creation(undefined, { failures: 1 })],
    ],
    [
      'the third creation that failed, after 3 minutes',
      [creating(3 / 60, { failures: 3 })],
      [],
      [],
    ],
    [
      'the third creation that failed, after 5 minutes',
      [creating(5 / 60, { failures: 3 })],
      [],
      [creation(undefined, { failures: 4 })],
    ],
    ['the tenth, after 29 minutes', [creating(29 / 60, { failures: 9 })], [], []],
    [
      'the tenth, after 31 minutes',
      [creating(31 / 60, { failures: 9 })],
      [],
      [creation(undefined, { failures: 10 })],
    ],
    [
      'a creation that failed before another webhook was made, which is lost',
      [made(2), creating(3, { failures: 5, destinationUrl: urlOf('b') })],
      [],
      ['forget one without an id', creation('it no longer exists', { over: '1' })],
    ],
    [
      'a creation that failed after another webhook was lost',
      [creating(2, { failures: 5, destinationUrl: urlOf('b') }), made(3)],
      [],
      ['forget one without an id', creation('it no longer exists', { over: '1', failures: 6 })],
    ],
    [
      'a creation that failed after another webhook was lost at once',
      [made(0.5), creating(0.4, { destinationUrl: urlOf('b') })],
      [],
      [unusable('it no longer exists', '1 hour')],
    ],
    [
      'a failed creation for another collection',
      [creating(0.01, { failures: 3, collection: 'breaks' })],
      [],
      [creation()],
    ],
    [
      'one that is not initialized yet',
      [made(5 / 60)],
      [record(starting)],
      ['warn: The webhook is not initialized yet. It is replaced when that takes longer.'],
    ],
    [
      'one that is not initialized yet, in place of another',
      [hook(), made(5 / 60, second)],
      [record(disabled), record({ ...second, ...starting })],
      [
        'warn: The webhook is not initialized yet. It is replaced when that takes longer.',
        'retire 1: its status is Disabled',
      ],
    ],
    [
      'one that is not initialized yet, beside a usable one',
      [hook(), made(5 / 60, second)],
      [record(), record({ ...second, ...starting })],
      ['retire 2: its status is Uninitialized'],
    ],
    [
      'a new one that is disabled',
      [made(5 / 60)],
      [record(disabled)],
      [unusable('its status is Disabled', '1 hour')],
    ],
    [
      'one that stays uninitialized',
      [made(11 / 60)],
      [record(starting)],
      [unusable('its status is Uninitialized', '1 hour')],
    ],
    [
      'one that has stayed so for an hour',
      [made(1.1)],
      [record(starting)],
      [creation('its status is Uninitialized', { over: '1', tries: 1 })],
    ],
    [
      'the third one that stays so, after 3 hours',
      [made(3, { tries: 2 })],
      [record(starting)],
      [unusable('its status is Uninitialized', '4 hours')],
    ],
    [
      'the third one, after 5 hours',
      [made(5, { tries: 2 })],
      [record(starting)],
      [creation('its status is Uninitialized', { over: '1', tries: 3 })],
    ],
    [
      'the eleventh one, after 23 hours',
      [made(23, { tries: 10 })],
      [record(starting)],
      [unusable('its status is Uninitialized', '24 hours')],
    ],
    [
      'the eleventh one, after 25 hours',
      [made(25, { tries: 10 })],
      [record(starting)],
      [creation('its status is Uninitialized', { over: '1', tries: 11 })],
    ],
    [
      'one that was initialized, and is disabled',
      [made(2, { tries: 2 })],
      [record(disabled)],
      [creation('its status is Disabled', { over: '1' })],
    ],
    ['a retired one', [retired(-71)], [], [creation()]],
    ['one that was retired long ago', [retired(-72)], [], ['forget 1', creation()]],
    [
      'a retired one that was created just now',
      [retired(-0.1, { createdAt: at(-0.5).toISOString() })],
      [],
      [paused('There is no usable webhook', '1 hour')],
    ],
    [
      'a retired one that is still listed',
      [retired(-1)],
      [record()],
      ['delete 1: it was replaced', creation()],
    ],
    [
      'a twin',
      [hook()],
      [stranger(disabled), record()],
      ['delete 2: another one has its address, and nobody has the key of this one'],
    ],
    [
      'a stranger below the public URL',
      [hook()],
      [record(), stranger({ destinationUrl: urlOf('x') })],
      [
        'warn about 2: There is a webhook with our public URL whose key is not in the store (id 2): its deliveries are refused with 404. Start with --adopt to delete such webhooks, or delete it with: protime webhooks delete 2.',
      ],
    ],
    [
      'a stranger that is not the one whose creation failed',
      [creating(48), hook(second)],
      [record(second), stranger({ id: '3', ...disabled, destinationUrl: urlOf('x') })],
      ['forget one without an id'],
    ],
    ...[
      ['that does not deliver', { ...disabled, destinationUrl: urlOf('x') }],
      ['for another collection', { collectionName: 'breaks', destinationUrl: urlOf('x') }],
      ['elsewhere', { destinationUrl: 'https://other.example/x' }],
      ['of another program', { destinationUrl: urlOf('x').replace('/hooks', '/app/hooks') }],
      ['with a longer address', { destinationUrl: `${urlOf('x')}/more` }],
    ].map(([name, change]): [string, StoredHook[], Webhook[], string[]] => [
      `a stranger ${name}`,
      [hook()],
      [record(), stranger(change as Partial<Webhook>)],
      [],
    ]),
    [
      'a new one at another public URL',
      [made(0.5, old)],
      [record(old)],
      [creation('the public URL has changed', { over: '1' })],
    ],
    [
      'those of a collection that is not chosen',
      [
        hook(),
        hook({ collection: 'breaks', id: '9', destinationUrl: urlOf('z') }),
        retired(-1, { collection: 'breaks', id: '8', destinationUrl: urlOf('y') }),
      ],
      [record()],
      ['retire 9: its collection is no longer chosen'],
    ],
  ])('for %s', (_, hooks, listed, actions) => {
    expect(planned({ hooks, listed })).toEqual(actions)
  })

  function planned(facts: Partial<KeeperFacts>, adopt = false): string[] {
    const none = { hooks: [], listed: [], remaining: new Set<string>(), now: NOW }
    const settings = { publicUrl: PUBLIC_URL, collections: ['people'], adopt }
    return planKeeping({ ...none, ...facts }, settings).map(told)
  }

  it('keeps a webhook that was retired long ago while it still delivers', () => {
    const hooks = [retired(-100)]
    expect(planned({ hooks, remaining: new Set(['1']) })).toEqual([creation()])
  })

  it('leaves alone a webhook of somebody else whose address ends like one of the store', () => {
    const destinationUrl = hook().destinationUrl.replace(PUBLIC_URL, 'https://payroll.example')
    const listed = [record(), stranger({ destinationUrl })]
    expect(planned({ hooks: [hook()], listed }, true)).toEqual([])
  })

  it('deletes strangers below the public URL if they are to be adopted', () => {
    const listed = [record(), stranger({ destinationUrl: urlOf('x') })]
    expect(planned({ hooks: [hook()], listed }, true)).toEqual(['delete 2: its key is lost'])
  })
})
