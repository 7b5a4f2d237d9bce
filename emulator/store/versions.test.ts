import { expect, it } from 'vitest'
import { Blocks, openBytes, Texts } from './versions.ts'

const added = Array.from({ length: 700 }, (_, i) => JSON.stringify({ id: i, name: `“${i}”,\n` }))

it.each([
  ['kept as they are', openBytes],
  ['compressed', 0],
])('returns texts as they were added when blocks are %s', (_, largest) => {
  const texts = new Texts(new Blocks(largest))
  for (const text of added) texts.push(text)
  const chosen = [699, 0, 1, 2, 254, 255, 256, 257, 300, 511, 512, 600, 601]
  expect(added.map((_text, i) => texts.at(i))).toEqual(added)
  for (const indexes of [[...added.keys()], chosen, []]) {
    const bytes = Buffer.concat(texts.parts(indexes))
    expect(bytes.toString()).toBe(indexes.map((i) => added[i]).join(','))
  }
})
