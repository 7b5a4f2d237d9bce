import { describe, expect, it } from 'vitest'
import type { Webhook } from '../../client/service-client.ts'
import { faultOf, planKeeping } from './keeper-plan.ts'
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

describe('a webhook', () => {
  it.each([
    ['that is valid for long', record(), undefined],
    ['without an end', record({ validUntil: undefined }), undefined],
    ['that is gone', undefined, { why: 'it is gone', isOver: true }],
    [
      'that is disabled',
      record({ status: 'Disabled' }),
      { why: 'its status is Disabled', isOver: true },
    ],
    ['that has expired', record({ validUntil: at(-1) }), { isOver: true }],
    ['that expires soon', record({ validUntil: at(2) }), { isOver: false }],
  ])('%s has the fault %j', (_, found, fault) => {
    const expected = fault === undefined ? undefined : expect.objectContaining(fault)
    expect(faultOf(hook(), found, NOW)).toEqual(expected)
  })
})

describe('the plan', () => {
  const creating = hook({ state: 'creating', id: undefined, key: undefined } as never)
  const retired = (hours: number) => hook({ state: 'retiring', retiredAt: at(hours).toISOString() })
  it.each<[string, StoredHook[], Webhook[], string[]]>([
    ['nothing yet', [], [], ['create']],
    ['a usable one', [hook()], [record()], []],
    ['a lost one', [hook()], [], ['create']],
    ['a lost one that is new', [hook({ createdAt: at(-0.5).toISOString() })], [], ['warn']],
    ['one that ends soon', [hook()], [record({ validUntil: at(2) })], ['create']],
    [
      'one that has a successor',
      [hook(), hook({ id: '2', destinationUrl: urlOf('b'), createdAt: at(-2).toISOString() })],
      [record({ validUntil: at(2) }), record({ id: '2', destinationUrl: urlOf('b') })],
      ['retire'],
    ],
    ['one whose key is lost', [creating], [record()], ['delete', 'create']],
    ['one that was never created', [creating], [], ['forget', 'create']],
    ['a retired one', [retired(-71)], [], ['create']],
    ['one that was retired long ago', [retired(-73)], [], ['forget', 'create']],
    ['a retired one that is still listed', [retired(-1)], [record()], ['delete', 'create']],
    ['a twin', [hook()], [record(), record({ id: '2' })], ['delete']],
    [
      'a stranger below the public URL',
      [hook()],
      [record(), record({ id: '2', destinationUrl: urlOf('x') })],
      ['warn'],
    ],
    [
      'a stranger elsewhere',
      [hook()],
      [record(), record({ id: '2', destinationUrl: 'https://other.example/x' })],
      [],
    ],
    [
      'one at another public URL',
      [hook({ destinationUrl: 'https://old.example/hooks/people/00000000000000000000' })],
      [record({ destinationUrl: 'https://old.example/hooks/people/00000000000000000000' })],
      ['create'],
    ],
    [
      'one of a collection that is not chosen',
      [hook(), hook({ collection: 'breaks', id: '9', destinationUrl: urlOf('z') })],
      [record()],
      ['retire'],
    ],
  ])('for %s', (_, hooks, listed, actions) => {
    const facts = { hooks, listed, remaining: new Set<string>(), now: NOW }
    const settings = { publicUrl: PUBLIC_URL, collections: ['people'], adopt: false }
    expect(planKeeping(facts, settings).map((action) => action.do)).toEqual(actions)
  })

  it('deletes strangers below the public URL if they are to be adopted', () => {
    const listed = [record(), record({ id: '2', destinationUrl: urlOf('x') })]
    const facts = { hooks: [hook()], listed, remaining: new Set<string>(), now: NOW }
    const settings = { publicUrl: PUBLIC_URL, collections: ['people'], adopt: true }
    expect(planKeeping(facts, settings)).toMatchObject([{ do: 'delete', id: '2' }])
  })
})
