import { expect, it } from 'vitest'
import { createJsonBatch } from './json-batch.ts'
import { DROP, SOFT_DELETE } from './record-batch.ts'
import { createBatchRewriter } from './rewritten-batch.ts'

const PARTS = {
  prefix: Buffer.from('<'),
  suffix: Buffer.from(',"deleted":false}\n'),
  deleteSuffix: Buffer.from(',"deleted":true}\n'),
}

function batchOf(count: number) {
  return createJsonBatch(
    Array.from({ length: count }, (_, i) => ({ json: `{"id":${i},"pin":1234}`, key: String(i) })),
  )
}

const withoutPin = {
  ruleOf: (name: string) => (name === 'pin' ? ('drop' as const) : ('keep' as const)),
  keepsValues: true,
}

it('has the lines of its records, those of deleted rows too, and none of dropped ones', () => {
  const batch = batchOf(3)
  batch.ops.set([SOFT_DELETE, DROP], 0)
  const lines = createBatchRewriter(withoutPin)(batch).lines(PARTS)
  expect(Buffer.from(lines).toString()).toBe(
    '<{"id":0,"deleted":true}\n<{"id":2,"deleted":false}\n',
  )
})

it('asks for the rule of a name once, however its records are taken', () => {
  const asked: string[] = []
  const rewrite = createBatchRewriter({
    ...withoutPin,
    ruleOf: (name) => {
      asked.push(name)
      return withoutPin.ruleOf(name)
    },
  })
  for (let page = 0; page < 3; page++) {
    const batch = rewrite(batchOf(5))
    expect(Buffer.from(batch.record(4)).toString()).toBe('{"id":4}')
    batch.lines(PARTS)
  }
  expect(asked).toEqual(['id', 'pin'])
})
