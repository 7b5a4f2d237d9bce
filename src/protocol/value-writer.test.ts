import { expect, it } from 'vitest'
import { createByteSink } from './byte-sink.ts'
import { createValueWriter } from './value-writer.ts'

/** What a writer makes of values that stand between others. */
function writerOf(replace: (json: string) => string) {
  const write = createValueWriter(replace)
  return (json: string) => {
    const from = Buffer.from(`[${json}]`)
    const sink = createByteSink(0)
    write(from, 1, from.length - 1, sink)
    return sink.bytes.toString('utf8', 0, sink.length)
  }
}

it('answers what the replacement answers, and asks it once per value', () => {
  const asked: string[] = []
  const write = writerOf((json) => {
    asked.push(json)
    return `"é${json.length}"`
  })
  expect(['"a"', '17', '"a"', '17', 'null'].map(write)).toEqual([
    '"é3"',
    '"é2"',
    '"é3"',
    '"é2"',
    '"é4"',
  ])
  expect(asked).toEqual(['"a"', '17', 'null'])
})

it('is right for more values than it remembers, and for long ones', () => {
  const write = writerOf((json) => `<${json}>`)
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 150_000; i++) {
      const json = `"${'x'.repeat(i % 300)}${i}"`
      if (write(json) !== `<${json}>`) throw new Error(`wrong for ${json}`)
    }
  }
})
