import { describe, expect, it } from 'vitest'
import { coverageFaults, coverageText, readCoverage, taggedTests } from './coverage.ts'

describe('the coverage of the specification', () => {
  const { sections, shown } = readCoverage()

  it('has a test or a reason for each rule, and a rule for each tag', () => {
    expect(coverageFaults(sections, shown)).toEqual([])
  })

  it('is printed with the tests of each rule, or the reason why there are none', () => {
    const rules = [
      { id: 'A', rule: 'a' },
      { id: 'B', rule: 'b', notYet: 'nobody needs it' },
    ]
    const tests = ['t', 'u'].map((title) => ({ id: 'A', file: 'x.test.ts', title }))
    expect(coverageText([{ section: 'S', rules }], tests)).toBe(
      'S\n  A: a\n    x.test.ts > t\n    x.test.ts > u\n  B: b\n    not yet: nobody needs it\n',
    )
  })
})

describe('a tag', () => {
  const tag = (id: string) => `// spec: ${id}`

  it('belongs to the next test, whose title includes those of the blocks around it', () => {
    const text = `describe('a', () => {
  ${tag('X 1')}
  ${tag('X 2')}
  it('b', f)
  it('c', f)
})
describe('d', () => {
  describe.each([1])('e %i', () => {
    ${tag('X 3')}
    it.each([
      ['no', g('title')],
    ])(
      'f %s',
      f,
    )
  })
})
${tag('X 4')}
it.concurrent("g's", f)`
    expect(taggedTests('a.test.ts', text).map(({ id, title }) => [id, title])).toEqual([
      ['X 1', 'a > b'],
      ['X 2', 'a > b'],
      ['X 3', 'd > e %i > f %s'],
      ['X 4', "g's"],
    ])
  })

  it('and a rule need each other', () => {
    const rules = [
      { id: 'A', rule: 'a' },
      { id: 'B', rule: 'b', notYet: 'nobody needs it' },
      { id: 'C', rule: 'c' },
      { id: 'C', rule: 'c' },
    ]
    const shown = ['B', 'C', 'D'].map((id) => ({ id, file: 'x.test.ts', title: 't' }))
    expect(coverageFaults([{ section: 'S', rules }], shown)).toEqual([
      'C: it is there twice',
      'x.test.ts: there is no rule "D"',
      'A: it needs a test or a reason, and not both',
      'B: it needs a test or a reason, and not both',
    ])
  })
})
