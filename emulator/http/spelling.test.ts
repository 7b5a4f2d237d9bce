import { expect, it } from 'vitest'
import { respelled } from './spelling.ts'

it('JSON that is spelled in another way means the same, also beyond the BMP', () => {
  const value = { name: 'a 😀 "b" \\ é', ids: [1, 2.5], '😀': null }
  for (let number = 0; number < 500; number += 1)
    expect(JSON.parse(respelled(JSON.stringify(value), number))).toEqual(value)
})
