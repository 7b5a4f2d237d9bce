import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const FOLDER = '.github/workflows'
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const workflows = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(join(FOLDER, name), 'utf8'),
}))

describe.each(workflows)('$name', ({ text }) => {
  it('takes each action of others at one commit, and says which version that is', () => {
    const used = [...text.matchAll(/uses: (.+)/g)].map(([, action = '']) => action)
    const others = used.filter((action) => !action.startsWith('./'))
    expect(others.length).toBeGreaterThan(0)
    expect(
      others.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
    ).toEqual([])
  })

  it('may read, unless a job is given more', () => {
    const given: Record<string, string> = parse(text).permissions
    expect(Object.values(given).filter((access) => access !== 'read')).toEqual([])
  })

  it('runs scripts that there are', () => {
    const run = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script)
    expect(run.filter((script) => scripts[script ?? ''] === undefined)).toEqual([])
  })
})

it('an action has the same commit wherever it is taken', () => {
  const all = workflows.flatMap(({ text }) => text.match(/uses: [\w./-]+@.+/g) ?? [])
  const names = new Set(all.map((line) => line.split('@')[0]))
  expect(new Set(all).size).toBe(names.size)
})
