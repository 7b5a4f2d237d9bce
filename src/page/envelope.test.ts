import { describe, expect, it } from 'vitest'
import { createPageScanner } from './create-page-scanner.ts'
import { parseEnvelope } from './envelope.ts'

/** What the scanner of the source finds in a page; undefined if it refuses it. */
function scanned(body: string): object | undefined {
  const scanner = createPageScanner({ key: 'id', version: 'changeVersion' })
  try {
    scanner.push(Buffer.from(body))
    const { count, nextLink } = scanner.end()
    return { count, nextLink: nextLink || undefined }
  } catch {
    return undefined
  }
}

function parsed(body: string): object | undefined {
  try {
    const { items, nextLink } = parseEnvelope(body)
    return { count: items.length, nextLink }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

describe('a page is the same for the client as for the source', () => {
  it.each([
    '{"value":[]}',
    '{"value":[{"id":1}]}',
    '{"Value":[{"id":1}],"NextLink":"/x"}',
    '{"value":[],"nextLink":null}',
    '{"value":[],"nextLink":""}',
    '{"value":[],"nextLink":7}',
    '{"value":[],"nextLink":"/x","NextLink":null}',
    '{"value":[],"NextLink":"","nextLink":"/x"}',
    '{"value":[],"nextLink":"/x","NextLink":7}',
    '{"value":[],"Value":[]}',
    '{"value":[1]}',
    '{"value":null}',
    '{"value":{"1":{"id":1}}}',
    '{}',
    '{"items":[{"id":1}]}',
    '{"error":{"code":"Busy"}}',
    '{"error":"Busy"}',
    '{"1":{"id":1}}',
    '{"id":1}',
    'null',
    '7',
    '',
    '<html>',
  ])('%s', (body) => {
    expect(parsed(body)).toEqual(scanned(body))
  })
})

it('a page may be a bare list for the client', () => {
  expect(parseEnvelope('[{"id":1}]')).toEqual({ items: [{ id: 1 }] })
})
