import { describe, expect, it } from 'vitest'
import { SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import { createPageScanner, guarded } from './create-page-scanner.ts'
import { LastingDamageError, MalformedPageError, RecordTooLargeError } from './page-scanner.ts'
import { loadScanModule, type ScanModule } from './scan-module.ts'
import { observe, parts, shape } from './testing/observe.ts'
import { createWasmEngine, highest } from './wasm-engine.ts'

const MEBIBYTE = 1024 * 1024

const page = (...elements: string[]) => Buffer.from(`{"value":[${elements.join(',')}]}`)

describe('the page scanner', () => {
  const read = async (body: Uint8Array | string, cuts: readonly number[] = []) =>
    observe(createPageScanner(shape), Buffer.from(body), cuts)

  // spec: Conventions: list page
  it('reads records, links and the count of a page', async () => {
    const { records, end } = await read(
      '{"value":[{"changeVersion":"0B","id":7},{"id":8}],"NextLink":"/a\\/b","deltaLink":null}',
    )
    expect(records.map(({ key, version }) => [key, version])).toEqual([
      [7, '0B'],
      [8, undefined],
    ])
    expect(end).toEqual({ nextLink: '/a/b', count: 2 })
  })

  it.each([
    ['{"id":1,"date":"2026-03-01"}', '2026-03-01'],
    ['{"id":1,"date":"2026-03-01T08:00:00"}', '2026-03-01'],
    ['{ "d\\u0061te" : "2026-03-01" , "id" : 1 }', '2026-03-01'],
    ['{"changeType":"InsertOrUpdate","data":{"id":1,"date":"2026-03-01"}}', '2026-03-01'],
    ['{"id":1,"date":null,"date":"2026-03-01"}', '2026-03-01'],
    ['{"id":1,"date":"2026-03-01","date":null}', undefined],
    ['{"id":1,"x":[{"date":"2026-03-01"}]}', undefined],
    ['{"id":1,"date":["2026-03-01"]}', undefined],
    ['{"id":1,"date":"2026\\u002d03-01"}', undefined],
    ['{"id":1,"date":"2026-03-0"}', undefined],
  ])('finds the date of %s, however the body is cut', async (element, expected) => {
    const body = page('{"id":1,"date":"2025-12-31"}', element, element, element)
    for (let cut = 0; cut <= body.length; cut++) {
      const { records } = await read(body, [cut])
      expect(records.slice(1).map(({ date }) => date)).toEqual([expected, expected, expected])
    }
  })

  it('finds the soft-delete mark only at the top level of a record', async () => {
    const { records } = await read(
      page('{"id":1,"status":"Deleted"}', '{"id":2,"x":{"status":"Deleted"}}'),
    )
    expect(records.map(({ kind }) => kind)).toEqual([SOFT_DELETE, UPSERT])
  })

  it.each([
    ['{"id":1,"x":{"y":[]}}', '{"id":1,"x":[{"y":[]}]}'],
    ['{"x" : {} ,"id":1}', '{"x" : [{}] ,"id":1}'],
    ['{"id":1,"\\u0078":{"x":{}}}', '{"id":1,"\\u0078":[{"x":{}}]}'],
    ['{"id":1,"x":{"a":1},"x":{"b":2}}', '{"id":1,"x":{"a":1},"x":[{"b":2}]}'],
    ['{"id":1,"x":{"a":1},"x":[2]}', '{"id":1,"x":{"a":1},"x":[2]}'],
    ['{"id":1,"x":[{"y":1}]}', '{"id":1,"x":[{"y":1}]}'],
    ['{"id":1,"x":null}', '{"id":1,"x":null}'],
    ['{"id":1,"y":{"x":{}}}', '{"id":1,"y":{"x":{}}}'],
  ])('wraps a single object in an array if its shape says array: %s', async (sent, made) => {
    const other = '{"id":2,"x":[]}'
    const { records, lines } = await read(page(other, sent, other))
    expect(records.map(({ text }) => text)).toEqual([other, made, other])
    expect(lines.split('\n')[1]).toBe(`{"data":${made.slice(0, -1)},"tail":"live"}}`)
  })

  it('wraps it in an array in the data of a change, too', async () => {
    const { records } = await read(
      page(
        '{"x":{},"changeType":"Delete","data":{"x":{},"id":1}}',
        '{"changeType":"InsertOrUpdate","data":{"id":2},"x":{}}',
      ),
    )
    expect(records.map(({ text }) => text)).toEqual(['{"x":[{}],"id":1}', '{"id":2}'])
  })

  it('keeps every digit of a number and every escape of a string', async () => {
    const record = '{"id":123456789012345678901,"x":[0.10,1E+400,-0,"\\u0041\\/\u2028"]}'
    const { records } = await read(page(record))
    expect(records[0]?.text).toBe(record)
  })

  // spec: Conventions: id
  it.each([
    ['0', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', Number.NaN],
    ['99999999999999999999', Number.NaN],
    ['-1', Number.NaN],
    ['1.0', Number.NaN],
    ['"a-b"', Number.NaN],
    ['{"x":1}', Number.NaN],
  ])('reads the key %s as a number only if it is an integer that fits', async (text, key) => {
    const { records } = await read(page(`{"id":${text}}`))
    expect(records[0]).toMatchObject({ keyText: text, key })
  })

  it('converts a pretty-printed record to one line', async () => {
    const { lines } = await read('{"value":[{\r\n  "id": 1,\n\t"x": [\n]\n}]}')
    expect(lines).toBe('{"data":{    "id": 1, \t"x": [ ] ,"tail":"live"}}\n')
  })

  it('leaves skipped records out of the lines, and gives deleted ones their own suffix', async () => {
    const scanner = createPageScanner(shape)
    const batch = scanner.push(page('{"id":1}', '{"id":2}', '{"id":3,"status":"Deleted"}'))
    batch.ops[0] = SKIP
    expect(Buffer.from(batch.lines(parts)).toString()).toBe(
      '{"data":{"id":2,"tail":"live"}}\n{"data":{"id":3,"status":"Deleted","tail":"removed"}}\n',
    )
  })

  it('returns lines that do not change when the next page is read', async () => {
    const scanner = createPageScanner(shape)
    const lines = scanner.push(page('{"id":1}')).lines(parts)
    scanner.begin()
    scanner.push(page('{"id":2}')).lines(parts)
    expect(Buffer.from(lines).toString()).toContain('"id":1')
  })

  it('writes lines that are larger than the window in which they are assembled', async () => {
    const long = 'x'.repeat(300_000)
    const { lines } = await read(page('{"id":1}', `{"id":2,"x":"${long}"}`, '{"id":3}'))
    expect(lines.split('\n').map((line) => line.length)).toEqual([31, 300_038, 31, 0])
  })

  it('writes lines with a prefix of any size', async () => {
    const batch = createPageScanner(shape).push(page('{"id":1}', '{"id":2}'))
    const prefix = Buffer.alloc(100_000, ' ')
    expect(batch.lines({ ...parts, prefix }).length).toBe(2 * (100_000 + 24))
  })

  it.each([
    [['"A"', '"B"'], 'B'],
    [['"B"', '"A"'], 'B'],
    [['"A"', '"AA"'], 'AA'],
    [['"\\u0042"', '"A"'], 'B'],
    [['"\u{1f600}"', '"\uffee"'], '\uffee'],
    [['"0123456789ABCDEF01"', '"0123456789ABCDEF00"'], '0123456789ABCDEF01'],
    [['null', '5'], undefined],
  ])('finds the highest version of %s', async (versions, expected) => {
    const elements = versions.map((version) => `{"id":1,"changeVersion":${version}}`)
    const { highest } = await read(page(...elements))
    expect(highest).toEqual([expected])
  })

  it('counts the bytes of a byte order mark in the position of an error', async () => {
    await expect(read('\ufeff{"value":!}', [])).rejects.toThrow('not JSON at byte 12')
  })

  it('tolerates a byte order mark, even in pieces', async () => {
    expect((await read('\ufeff{"value":[]}', [1, 2])).end).toEqual({ count: 0 })
  })

  it.each([
    ['', 'the body is empty'],
    [' \n', 'the body is empty'],
    [
      '<html><body>Gone</body></html>',
      'the body is not JSON at byte 0 (it starts with `<html`, like a web page)',
    ],
    [`<!${'x'.repeat(60)}`, 'the body is not JSON at byte 0'],
    ['It rains on Ann', 'the body is not JSON at byte 0'],
    ['[]', 'the body is JSON, but not an object'],
    ['{}', 'the body has no `value`'],
    ['{"value":null}', '`value` is not an array'],
    ['{"value":[],"Value":[]}', 'the body has the duplicate key `value`, at byte 20'],
    ['{"value":[{"id":1},7]}', 'element 2 of `value` is not an object'],
    ['{"value":[{"id":1},{}]}', 'element 2 of `value` has no `id`'],
    ['{"value":[{"id":null}]}', 'element 1 of `value` has no `id`'],
    ['{"value":[{"changeType":"Delete","data":{},"id":1}]}', 'element 1 of `value` has no `id`'],
    ['{"value":[{"id":1},{"id":2', 'the body ends inside element 2 of `value`'],
    ['{"value":[{"id":1}', 'the body ends at byte 18, before it is complete'],
    ['{"value":[{"id":"secret","x":01}]}', 'the body is not JSON at byte 30'],
    ['{"value":[],"nextLink":7}', 'the link at byte 23 is neither a string nor null'],
    ['{"value":[]} x', 'the body continues after its end, at byte 13'],
    ['{"value":[{"id":"\n"}]}', 'the body is not JSON at byte 17'],
  ])('refuses %j and says why', async (body, reason) => {
    await expect(read(body)).rejects.toThrow(new MalformedPageError(reason))
  })

  it.each([
    ['', 0],
    ['+1', 0],
    ['.5', 0],
    ['-', 1],
    ['01', 1],
    ['-01', 2],
    ['1.', 2],
    ['0.e1', 2],
    ['0e', 2],
    ['0ex', 2],
    ['12E+', 4],
    ['1.5e-+', 5],
    ['tru', 3],
    ['fals0', 4],
    ['nuLl', 2],
    ['"\t"', 1],
    ['"\\x"', 2],
    ['"\\u00g0"', 5],
    ['1 2', 2],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[}', 1],
    ['{a:1}', 1],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
  ])('says at which byte %j stops being JSON, however it is cut', async (value, at) => {
    const head = '{"value":[{"id":1},{"id":2,"y":'
    const reason = `the body is not JSON at byte ${head.length + at}`
    const body = Buffer.from(`${head}${value}}]}`)
    for (let cut = head.length - 2; cut <= body.length; cut++)
      await expect(read(body, [cut])).rejects.toThrow(new MalformedPageError(reason))
  })

  it('refuses bytes that are not UTF-8', async () => {
    const body = Buffer.from('{"value":[{"id":"\xe9"}]}', 'latin1')
    await expect(read(body)).rejects.toThrow(/not UTF-8/)
  })

  it('accepts 256 levels, and refuses the next', async () => {
    const nested = (levels: number) => page(`{"id":${'['.repeat(levels)}${']'.repeat(levels)}}`)
    expect((await read(nested(253))).records.length).toBe(1)
    await expect(read(nested(254))).rejects.toThrow(/deeper than 256 levels at byte 269/)
  })

  it('refuses to continue after damage, until the next page', async () => {
    const scanner = createPageScanner(shape)
    expect(() => scanner.push(Buffer.from('x'))).toThrow(MalformedPageError)
    expect(() => scanner.push(page('{"id":1}'))).toThrow(MalformedPageError)
    expect(() => scanner.end()).toThrow(MalformedPageError)
    scanner.begin()
    expect(scanner.push(page('{"id":1}')).count).toBe(1)
  })

  it('refuses a record above the limit, in one piece or several', async () => {
    const scanner = createPageScanner(shape, { maxRecordBytes: 100 })
    const body = page('{"id":1}', `{"id":2,"x":"${'x'.repeat(100)}"}`)
    expect(() => observe(scanner, body)).toThrow(
      new RecordTooLargeError('element 2 of `value` is larger than 100 bytes'),
    )
    expect(() => observe(scanner, body, [50, 60, 70])).toThrow(RecordTooLargeError)
    expect(() => observe(scanner, body, [125])).toThrow(RecordTooLargeError)
  })

  it('refuses a name or link above the limit, but skips other long values', async () => {
    const scanner = createPageScanner(shape, { maxRecordBytes: 100 })
    const long = `"${'x'.repeat(200)}"`
    const cuts = [50, 120, 180]
    expect(observe(scanner, Buffer.from(`{"x":${long},"value":[]}`), cuts).end.count).toBe(0)
    expect(() => observe(scanner, Buffer.from(`{${long}:1,"value":[]}`), cuts)).toThrow(
      RecordTooLargeError,
    )
    expect(() => observe(scanner, Buffer.from(`{"nextLink":${long}}`))).toThrow(RecordTooLargeError)
  })

  it('refuses to look for names that need escapes', async () => {
    await expect((async () => createPageScanner({ ...shape, key: 'é' }))()).rejects.toThrow(
      /plain characters/,
    )
  })
})

/** A scanner, and the size of its memory. */
function watchedScanner() {
  let bytes = () => 0
  const module: ScanModule = {
    instantiate(host) {
      const instance = loadScanModule().instantiate(host)
      bytes = () => instance.memory.buffer.byteLength
      return instance
    },
  }
  const scanner = guarded(shape, {}, (maxRecordBytes) =>
    createWasmEngine(module, shape, maxRecordBytes),
  )
  return { scanner, bytes: () => bytes() }
}

describe('the memory of the page scanner', () => {
  // spec: Limits: page size
  it('stays small for a body of any size that comes in pieces', async () => {
    const { scanner, bytes } = watchedScanner()
    const chunk = Buffer.from(
      '{"id":123456,"changeVersion":"00000A1000005C20001F"},'.repeat(10_000),
    )
    scanner.push(Buffer.from('{"value":['))
    for (let i = 0; i < 200; i++) expect(scanner.push(chunk).count).toBe(10_000)
    scanner.push(Buffer.from('{"id":1}]}'))
    expect(scanner.end().count).toBe(2_000_001)
    expect(bytes()).toBeLessThan(4 * MEBIBYTE)
  })

  it('holds one record of 60 MiB that comes in pieces, without scanning it repeatedly', async () => {
    const scanner = createPageScanner(shape, { maxRecordBytes: 64 * MEBIBYTE })
    const piece = Buffer.from('[1,"two"],'.repeat(6_000))
    scanner.push(Buffer.from('{"value":[{"id":1,"x":['))
    for (let i = 0; i < 1000; i++) scanner.push(piece)
    const batch = scanner.push(Buffer.from('0]}]}'))
    expect(batch.record(0).length).toBe(60_000_016)
    expect(scanner.end().count).toBe(1)
    expect(batch.lines(parts).length).toBe(60_000_016 - 1 + 25)
  })
})

describe('a text that is too long for a state or a warehouse', () => {
  const good = '{"id":1,"changeVersion":"0A"}'
  const text = (length: number) => 'x'.repeat(length)
  const tooLong: readonly (readonly [
    what: string,
    bytes: number,
    record: (n: number) => string,
  ])[] = [
    ['the name at byte', 1024, (n) => `{"id":2,"${text(n)}":1}`],
    ['the name at byte', 1024, (n) => `{"id":2,"a":{"b":[{"${text(n)}":1}]}}`],
    ['the name at byte', 1024, (n) => `{"id":2,"${'\\u0061'.repeat(100)}${text(n - 600)}":1}`],
    ['element 3 of `value` has a `id` that', 1022, (n) => `{"id":"${text(n)}"}`],
    [
      'element 3 of `value` has a `id` that',
      1022,
      (n) => `{"id":"${text(n)}","changeVersion":"0A"}`,
    ],
    ['element 3 of `value` has a `id` that', 1024, (n) => `{"id":1${'0'.repeat(n - 1)}}`],
    [
      'element 3 of `value` has a version that',
      1024,
      (n) => `{"id":2,"changeVersion":"${text(n)}"}`,
    ],
    [
      'element 3 of `value` has a version that',
      1024,
      (n) => `{"changeType":"insert","data":{"id":2,"changeVersion":"${text(n)}"}}`,
    ],
  ]

  it.each(tooLong)('is refused: %s is longer than 1 KB (%d bytes)', (what, most, record) => {
    const read = (n: number, cuts: readonly number[]) =>
      observe(createPageScanner(shape), page(good, good, record(n)), cuts)
    // The same in pieces, and after records of its shape.
    for (const cuts of [[], [80], [80, 300, 900]]) {
      expect(read(most, cuts).end.count).toBe(3)
      expect(() => read(most + 1, cuts)).toThrow(LastingDamageError)
      expect(() => read(most + 1, cuts)).toThrow(what)
    }
  })

  it('is refused as the name of a member of the page, too', () => {
    const body = Buffer.from(`{"${text(1025)}":1,"value":[]}`)
    expect(() => observe(createPageScanner(shape), body)).toThrow(/^the name at byte 1 is longer/)
  })

  it('is refused among records of one shape', () => {
    const body = page(good, good, good, `{"id":1,"changeVersion":"${text(1025)}"}`)
    expect(() => observe(createPageScanner(shape), body)).toThrow(/^element 4.* version/)
  })

  it('may be a value of any other member', () => {
    const body = page(good, `{"id":2,"note":"${text(100_000)}"}`)
    expect(observe(createPageScanner(shape), body).end.count).toBe(2)
  })
})

function batchOf(versions: readonly (string | undefined)[]) {
  return { count: versions.length, versionText: (index: number) => versions[index] }
}

// spec: Conventions: changeVersion
// spec: Versioning 2
it.each([
  ['the last of several in order', ['00A', '00B'], '00B'],
  ['the greatest, wherever it stands', ['00C', '00B'], '00C'],
  ['the greatest as text, not as a number', ['9', '10'], '9'],
  ['the one that is there', [undefined, '00A', undefined], '00A'],
  ['none where there is none', [undefined], undefined],
  ['none of no records', [], undefined],
])('the highest version is %s', (_, versions, expected) => {
  expect(highest(batchOf(versions))).toBe(expected)
})
