import { expect, it } from 'vitest'
import { createByteSink, viewOf } from './buffers.ts'
import { createRememberingWriters } from './value-writer.ts'

/** What a writer makes of values that stand between others. */
function textWriter(replace: (json: string) => string) {
  const write = createRememberingWriters()(replace)
  return (json: string) => {
    const from = Buffer.from(`[${json}]`)
    const sink = createByteSink(Buffer.alloc(0))
    write(viewOf(from), 1, from.length - 1, sink)
    return sink.bytes.toString('utf8', 0, sink.length)
  }
}

it('answers what the replacement answers, and asks it once per value', () => {
  const asked: string[] = []
  const write = textWriter((json) => {
    asked.push(json)
    return `"é${json}"`
  })
  const values = Array.from({ length: 20_000 }, (_, i) => JSON.stringify({ '@number': `E${i}` }))
  for (let round = 0; round < 2; round++)
    for (const json of values)
      if (write(json) !== `"é${json}"`) throw new Error(`wrong for ${json}`)
  expect(asked).toEqual(values)
})

it('is right for more values than it remembers, and for long ones', () => {
  const write = textWriter((json) => `<${json}>`)
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 150_000; i++) {
      const json = `"${'x'.repeat(i % 300)}${i}"`
      if (write(json) !== `<${json}>`) throw new Error(`wrong for ${json}`)
    }
  }
})
