import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { MemberRule, ObjectRules } from '../records/record-batch.ts'
import { rewriteRecord } from '../records/record-rules.ts'
import { createPageScanner } from './create-page-scanner.ts'
import { type Random, seeded } from './testing/generated-body.ts'

/** `RULE_SEEDS=5000 npx vitest run src/page/rewriting` tests as many sets of rules, which takes some minutes. */
const SEEDS = Number(process.env['RULE_SEEDS'] ?? 60)
const TIME = { timeout: 60_000 + 1000 * SEEDS }

const NAMES = [
  ...['a', 'bb', 'person', 'externalReferences', '@employee-number', 'x y', 'é', '__proto__'],
  ...['longer-than-sixteen-characters-name', `n${'x'.repeat(300)}`, 'value', 'data'],
]

function pick<T>(random: Random, of: readonly T[]): T {
  return of[random(of.length)] as T
}

/** A name as JSON text; sometimes its first character is escaped. */
function nameText(random: Random, name: string): string {
  if (random(40) > 0) return JSON.stringify(name)
  const code = name.charCodeAt(0).toString(16).padStart(4, '0')
  return `"\\u${code}${JSON.stringify(name.slice(1)).slice(1)}`
}

/** Creates JSON texts that mostly have the same shape. */
type Maker = () => string

function scalar(random: Random): Maker {
  return pick<Maker>(random, [
    () => String(random(1_000_000)),
    () => '-1.50',
    () => '1e5',
    () => 'null',
    () => 'true',
    () => '""',
    () => JSON.stringify(`v${random(50)}`),
    () => JSON.stringify(`{"a":[${random(9)}],}"`),
    () => `"\\u00e9\\n\\"${random(9)}"`,
    () => JSON.stringify('é'.repeat(random(200))),
  ])
}

function value(random: Random, depth: number): Maker {
  const kind = random(depth > 3 ? 6 : 10)
  if (kind < 6) return () => scalarOf()
  if (kind < 8) return members(random, depth)
  const item = value(random, depth + 1)
  const other = value(random, depth + 1)
  return () => {
    const items = Array.from({ length: random(4) }, () => (random(5) === 0 ? other() : item()))
    return `[${items.join(',')}]`
  }
  function scalarOf(): string {
    return scalar(random)()
  }
}

function members(random: Random, depth: number, own: readonly string[] = []): Maker {
  const names = NAMES.filter(() => random(3) === 0)
  const makers = names.map(() => {
    const usual = value(random, depth + 1)
    const odd = value(random, depth + 1)
    return () => (random(20) === 0 ? odd() : usual())
  })
  const at = random(names.length + 1)
  return () => {
    const texts = names.map((name, i) => `${nameText(random, name)}:${(makers[i] as Maker)()}`)
    texts.splice(at, 0, ...own)
    return `{${texts.join(',')}}`
  }
}

function record(random: Random): Maker {
  const versions = ['"changeVersion":"A"', '"changeVersion":null', '"changeVersion":"\\u0041"']
  const texts = members(random, 0, ['"id":0'])
  let id = 0
  return () => texts().replace('"id":0', `"id":${++id},${pick(random, versions)}`)
}

/** White space between the tokens of a text. */
function spaced(random: Random, json: string): string {
  const space = () => pick(random, ['', '', ' ', '\n ', '\t', '  '])
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]/g, (token) => `${space()}${token}${space()}`)
}

const REPLACEMENTS: readonly ((json: string) => string)[] = [
  (json) => JSON.stringify(`h${Buffer.from(json).toString('hex').slice(0, 300)}`),
  (json) => `{"was":${json}}`,
  (json) => (json.length > 4 ? '"1980"' : 'null'),
  () => 'null',
]

function rulesOf(random: Random, depth: number, fixed: readonly string[]): ObjectRules {
  const draw = (): MemberRule => {
    const kind = random(depth < 3 ? 9 : 6)
    if (kind < 3) return 'keep'
    if (kind < 4) return 'drop'
    if (kind < 6 && random(2) === 0)
      return { nested: pick(random, REPLACEMENTS), texts: random(2) === 0 }
    return kind < 6 ? pick(random, REPLACEMENTS) : rulesOf(random, depth + 1, [])
  }
  const known = new Map<string, MemberRule>(NAMES.map((name) => [name, draw()]))
  for (const name of fixed) known.set(name, 'keep')
  const isFresh = random(4) === 0
  const others = draw()
  return {
    // Like rules for fields without a schema, which are created at each call.
    ruleOf(name) {
      const rule = known.get(name) ?? others
      return isFresh && typeof rule === 'object' ? { ...rule } : rule
    },
    values: random(2) === 0 ? 'keep' : pick(random, REPLACEMENTS),
    ...(random(3) === 0 && { lists: pick(random, REPLACEMENTS) }),
  }
}

function page(random: Random, makers: readonly Maker[], mayBeSpaced: boolean): Buffer {
  const isSpaced = mayBeSpaced && random(6) === 0
  const ofChanges = random(2) === 0
  const items = Array.from({ length: random(60) }, () => {
    const text = pick(random, makers)()
    const change = pick(random, ['Delete', 'Update'])
    const item = ofChanges && random(3) > 0 ? `{"changeType":"${change}","data":${text}}` : text
    return isSpaced && random(3) === 0 ? spaced(random, item) : item
  })
  return Buffer.from(`{"value":[${items.join(random(5) === 0 ? ' , ' : ',')}]}`)
}

function cutsOf(random: Random, length: number): number[] {
  const size = pick(random, [length, length, 1 + random(500), 4000])
  return Array.from({ length: Math.ceil(length / size) }, (_, i) => i * size)
}

const PARTS = {
  prefix: Buffer.from('<'),
  suffix: Buffer.from('>\n'),
  deleteSuffix: Buffer.from('-\n'),
}

describe('scanning under rules', () => {
  it('leaves of each record what the rewriter leaves, however the body is cut', TIME, () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const random = seeded(7_000_000 + seed)
      const rules = rulesOf(random, 0, ['id'])
      const selection = random(3) === 0 ? rulesOf(random, 0, ['id']) : undefined
      const underRules = (record: Uint8Array) => {
        const text = rewriteRecord(record, rules)
        return selection === undefined ? text : rewriteRecord(Buffer.from(text), selection)
      }
      const shape = {
        key: 'id',
        version: 'changeVersion',
        ...(random(3) === 0 && { array: 'bb' }),
        ...(random(3) === 0 && { deleted: { field: 'a', value: 'v1' } }),
      }
      const ruled = createPageScanner(shape, { rules, selection })
      const plain = createPageScanner(shape)
      const makers = Array.from({ length: 1 + random(4) }, () => record(random))
      for (let number = 0; number < 4; number++) {
        // Two rewrites leave less white space than one.
        const body = page(random, makers, selection === undefined)
        ruled.begin()
        plain.begin()
        const cuts = [...cutsOf(random, body.length), body.length]
        for (const [i, cut] of cuts.entries()) {
          const chunk = body.subarray(cut, cuts[i + 1] ?? body.length)
          const left = ruled.push(chunk)
          const came = plain.push(chunk)
          assert.equal(left.count, came.count)
          assert.equal(left.selection, selection)
          const expected = Array.from({ length: came.count }, (_, index) =>
            underRules(came.record(index)),
          )
          for (const [index, text] of expected.entries()) {
            assert.equal(Buffer.from(left.record(index)).toString(), text, `seed ${seed}`)
            assert.deepEqual(
              Buffer.from(left.received(index)).toString(),
              Buffer.from(came.record(index)).toString(),
            )
            assert.equal(left.keyText(index), came.keyText(index))
            assert.equal(left.versionText(index), came.versionText(index))
          }
          assert.deepEqual(left.ops, came.ops)
          assert.deepEqual(left.keys, came.keys)
          assert.equal(left.highestVersion, came.highestVersion)
          assert.equal(
            Buffer.from(left.lines(PARTS)).toString(),
            expected
              .map((text, index) => `<${text.slice(0, -1)}${left.ops[index] === 0 ? '>' : '-'}\n`)
              .join(''),
          )
        }
        assert.deepEqual(ruled.end(), plain.end())
      }
    }
  })
})
