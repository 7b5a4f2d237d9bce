import { expect, it } from 'vitest'
import { createPageScanner } from './create-page-scanner.ts'
import { observe, shape } from './testing/observe.ts'

it.each([
  ['"nextLink":"/a","NextLink":null'],
  ['"NextLink":null,"nextLink":"/a"'],
  ['"nextLink":"/a","NEXTLINK":""'],
])('follows the link of a page that has none in another spelling: %s', async (links) => {
  const body = Buffer.from(`{"value":[],${links}}`)
  for (let cut = 0; cut <= body.length; cut++)
    expect((await observe(createPageScanner(shape), body, [cut])).end).toEqual({
      nextLink: '/a',
      count: 0,
    })
})
