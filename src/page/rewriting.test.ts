import { expect, it } from 'vitest'
import type { ObjectRules } from '../records/record-batch.ts'
import { createPageScanner } from './create-page-scanner.ts'
import type { PageScanner } from './page-scanner.ts'

const SHAPE = { key: 'id', version: 'changeVersion', array: 'lines' }
const PARTS = {
  prefix: Buffer.from(''),
  suffix: Buffer.from('}\n'),
  deleteSuffix: Buffer.from('}\n'),
}

const withoutPin: ObjectRules = {
  ruleOf: (name) => (name === 'pin' ? 'drop' : withoutPin),
  values: 'keep',
}

function page(...elements: readonly string[]): Buffer {
  return Buffer.from(`{"value":[${elements.join(',')}]}`)
}

function linesOf(scanner: PageScanner, ...chunks: readonly Buffer[]): string[] {
  scanner.begin()
  const lines = chunks.map((chunk) => Buffer.from(scanner.push(chunk).lines(PARTS)).toString())
  scanner.end()
  return lines.join('').split('\n').slice(0, -1)
}

it('leaves a member out of every record, wherever it is and however the body is cut', () => {
  const elements = [
    '{"id":1,"pin":1234,"a":{"pin":1},"lines":[{"pin":[{}]},[{"pin":{}}],3]}',
    '{"id":2,"pin":1234,"a":{"pin":1},"lines":[]}',
    '{"id":3,"pin":"}","a":{"pin":null},"lines":[{"b":1,"pin":2},{"pin":3,"b":1}]}',
    '{"id":4,"pin":1234,"a":{"pin":1},"lines":{"pin":5}}',
    '{"id":5,"p\\u0069n":1234,"a":[{"pin":1}]}',
    '{"changeType":"Update","data":{"id":6,"pin":7}}',
    '{"changeType":"Delete","data":{"pin":7,"id":7}}',
    '{ "id" : 8 , "pin" : 8 }',
  ]
  const expected = [
    '{"id":1,"a":{},"lines":[{},[{}],3]}',
    '{"id":2,"a":{},"lines":[]}',
    '{"id":3,"a":{},"lines":[{"b":1},{"b":1}]}',
    '{"id":4,"a":{},"lines":[{}]}',
    '{"id":5,"a":[{}]}',
    '{"id":6}',
    '{"id":7}',
    '{"id" : 8}',
  ]
  const body = page(...elements, ...elements)
  const scanner = createPageScanner(SHAPE, { rules: withoutPin })
  for (let cut = 0; cut <= body.length; cut++) {
    const lines = linesOf(scanner, body.subarray(0, cut), body.subarray(cut))
    expect(lines).toEqual([...expected, ...expected])
  }
})

it('leaves a member out of an array where all records before had a plain value', () => {
  const plain = Array.from({ length: 5 }, (_, i) => `{"id":${i},"a":${i}}`)
  const lists = Array.from({ length: 5 }, (_, i) => `{"id":${i},"a":[{"pin":${i}},${i}]}`)
  const scanner = createPageScanner(SHAPE, { rules: withoutPin })
  const lines = linesOf(scanner, page(...plain, ...lists, ...plain))
  expect(lines).toEqual([...plain, ...lists.map((_, i) => `{"id":${i},"a":[{},${i}]}`), ...plain])
})

it('still provides the received record, for decisions', () => {
  const scanner = createPageScanner(SHAPE, { rules: withoutPin })
  const batch = scanner.push(page('{"id":1,"pin":1}', '{"id":2,"pin":2}', '{"id":3,"lines":{}}'))
  expect([0, 1, 2].map((i) => Buffer.from(batch.received(i)).toString())).toEqual([
    '{"id":1,"pin":1}',
    '{"id":2,"pin":2}',
    '{"id":3,"lines":[{}]}',
  ])
})

it('applies the rules even if the memory grows in the middle of a chunk', () => {
  const values: string[] = []
  const long = 'x'.repeat(5_000)
  const rules: ObjectRules = {
    ruleOf: (name) => (name === 'name' ? lengthened : 'keep'),
    values: 'keep',
  }
  function lengthened(json: string): string {
    values.push(json)
    return `"${long}"`
  }
  const scanner = createPageScanner(SHAPE, { rules })
  const elements = Array.from({ length: 2000 }, (_, i) => `{"id":${i},"name":"n${i}"}`)
  const lines = linesOf(scanner, page(...elements))
  expect(lines).toEqual(elements.map((_, i) => `{"id":${i},"name":"${long}"}`))
  expect(values).toEqual(elements.map((_, i) => `"n${i}"`))
})

it('applies the rules of its own scanner, whatever another one has read between two chunks', () => {
  const toOne: ObjectRules = {
    ruleOf: (name) => (name === 'pin' ? () => '1' : 'keep'),
    values: 'keep',
  }
  const elements = Array.from({ length: 50 }, (_, i) => `{"id":${i},"pin":"${i % 3}"}`)
  const body = page(...elements)
  const [half, rest] = [body.subarray(0, 500), body.subarray(500)]
  const scanners = [withoutPin, toOne, undefined].map((rules) =>
    createPageScanner(SHAPE, { rules }),
  )
  for (const scanner of scanners) scanner.begin()
  const lines = scanners.map(() => '')
  for (const chunk of [half, rest])
    scanners.forEach((scanner, i) => {
      lines[i] += Buffer.from(scanner.push(chunk).lines(PARTS)).toString()
    })
  expect(lines.map((text) => text.split('\n')[40])).toEqual([
    '{"id":40}',
    '{"id":40,"pin":1}',
    '{"id":40,"pin":"1"}',
  ])
})

it('asks for the rule of a name once, and for what replaces a value once', () => {
  const asked: string[] = []
  const rules: ObjectRules = {
    ruleOf(name) {
      asked.push(name)
      return name === 'name' ? replaced : 'keep'
    },
    values: 'keep',
  }
  function replaced(json: string): string {
    asked.push(json)
    return '"n"'
  }
  const scanner = createPageScanner(SHAPE, { rules })
  for (let number = 0; number < 3; number++)
    expect(
      linesOf(scanner, page('{"id":1,"name":1}', '{"name":1,"id":1}', '{"id":1,"x":[2]}')),
    ).toEqual(['{"id":1,"name":"n"}', '{"name":"n","id":1}', '{"id":1,"x":[2]}'])
  expect(asked).toEqual(['id', 'name', '1', 'x'])
})

it('passes nothing on if a rule fails, and reads the next page normally', () => {
  let isFailing = false
  const rules: ObjectRules = {
    ruleOf(name) {
      if (isFailing) throw new Error('no rule')
      return name === 'pin' ? 'drop' : 'keep'
    },
    values: 'keep',
  }
  const scanner = createPageScanner(SHAPE, { rules })
  const known = '{"id":1,"pin":1}'
  expect(linesOf(scanner, page(known, known))).toEqual(['{"id":1}', '{"id":1}'])
  isFailing = true
  scanner.begin()
  expect(() => scanner.push(page(known, '{"id":2,"other":2}'))).toThrow('no rule')
  expect(() => scanner.push(page(known))).toThrow('start the page again')
  isFailing = false
  expect(linesOf(scanner, page(known, '{"id":2,"other":2,"pin":2}'))).toEqual([
    '{"id":1}',
    '{"id":2,"other":2}',
  ])
})

it('looks at names again after a page that is damaged', () => {
  const asked: string[] = []
  const rules: ObjectRules = {
    ruleOf: (name) => (asked.push(name) && name === 'pin' ? 'drop' : 'keep'),
    values: 'keep',
  }
  const scanner = createPageScanner(SHAPE, { rules })
  const known = '{"id":1,"pin":1}'
  expect(() => linesOf(scanner, Buffer.from(`{"value":[${known},${known},}`))).toThrow('not JSON')
  expect(linesOf(scanner, page(known, known))).toEqual(['{"id":1}', '{"id":1}'])
  expect(asked).toEqual(['id', 'pin', 'id', 'pin'])
})

it('is correct for more values than it caches, and for long ones', () => {
  const rules: ObjectRules = {
    ruleOf: (name) => (name === 'name' ? (json) => `[${json}]` : 'keep'),
    values: 'keep',
  }
  const scanner = createPageScanner(SHAPE, { rules })
  for (let round = 0; round < 2; round++)
    for (let first = 0; first < 60_000; first += 1000) {
      const names = Array.from({ length: 1000 }, (_, i) => `"${'x'.repeat(i % 300)}${first + i}"`)
      const elements = names.map((name) => `{"id":1,"name":${name}}`)
      const expected = names.map((name) => `{"id":1,"name":[${name}]}`)
      expect(linesOf(scanner, page(...elements)).join()).toBe(expected.join())
    }
})

it('caches as much as its pages need, and uses little memory if they need little', () => {
  let asked = 0
  const replaced = (json: string) => {
    asked++
    return `[${json}]`
  }
  const rules: ObjectRules = {
    ruleOf: (name) => (name === 'name' ? replaced : 'keep'),
    values: 'keep',
  }
  const before = process.memoryUsage().external
  const scanners = Array.from({ length: 20 }, () => createPageScanner(SHAPE, { rules }))
  expect((process.memoryUsage().external - before) / scanners.length).toBeLessThan(1_000_000)
  const elements = Array.from({ length: 20_000 }, (_, i) => `{"id":1,"name":"${i}"}`)
  const askedInPages = Array.from({ length: 8 }, () => {
    asked = 0
    linesOf(scanners[0] as PageScanner, page(...elements))
    return asked
  })
  expect([askedInPages[0], askedInPages.at(-1)]).toEqual([20_000, 0])
})

it('distinguishes a name from a value with the same text', () => {
  const inside: ObjectRules = { ruleOf: () => 'keep', values: () => '"replaced"' }
  const rules: ObjectRules = { ruleOf: (name) => (name === 'a' ? inside : 'keep'), values: 'keep' }
  const scanner = createPageScanner(SHAPE, { rules })
  const elements = ['{"id":1,"a":["x",{"x":1},"x"]}', '{"id":2,"a":[{"y":1},"y",{"y":1}]}']
  expect(linesOf(scanner, page(...elements, ...elements))).toEqual([
    ...[
      '{"id":1,"a":["replaced",{"x":1},"replaced"]}',
      '{"id":2,"a":[{"y":1},"replaced",{"y":1}]}',
    ],
    ...[
      '{"id":1,"a":["replaced",{"x":1},"replaced"]}',
      '{"id":2,"a":[{"y":1},"replaced",{"y":1}]}',
    ],
  ])
})

it('is correct for more names than it caches, at any depth, and asks for the others again', () => {
  /** Rules that are created for each name, and differ by name. */
  const rulesIn = (around: string): ObjectRules => ({
    ruleOf(name) {
      if (name === 'pin' && around === 'y') return 'drop'
      return name === 'n' ? (json) => `["${around}",${json}]` : rulesIn(name)
    },
    values: 'keep',
  })
  const scanner = createPageScanner(SHAPE, { rules: rulesIn('') })
  for (let number = 0; number < 12; number++) {
    const indexes = Array.from({ length: 1000 }, (_, i) => number * 1000 + i)
    const elements = indexes.map(
      (i) => `{"id":1,"x${i}":{"y":[{"n":${i % 3},"pin":1}],"z${i}":{"n":${i % 3},"pin":2}}}`,
    )
    expect(linesOf(scanner, page(...elements))).toEqual(
      indexes.map(
        (i) =>
          `{"id":1,"x${i}":{"y":[{"n":["y",${i % 3}]}],"z${i}":{"n":["z${i}",${i % 3}],"pin":2}}}`,
      ),
    )
  }
})
