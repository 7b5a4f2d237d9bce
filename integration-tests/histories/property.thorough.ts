import { describe, expect, it } from 'vitest'
import { firstOf, runSettings } from './property.ts'

describe('the number of histories', () => {
  it.each([
    [{}, 2],
    [{ HISTORIES_SCALE: '80' }, 640],
    [{ HISTORIES_RUNS: '1000' }, 1000],
    [{ HISTORIES_RUNS: '1000', HISTORIES_PATH: '7:2' }, 1],
  ])('is, by %j, %i', (environment, runs) => {
    expect(runSettings(8, environment).runs).toBe(runs)
  })
})

describe('one history of many', () => {
  /** Which of these are run, if those that are named fail. */
  const run = async (all: readonly string[], failing: readonly string[]) => {
    const taken: string[] = []
    const first = firstOf(async (one: string) => {
      taken.push(one)
      if (failing.includes(one)) throw new Error(one)
    })
    for (const one of all) await first(one).catch(() => {})
    return taken
  }

  it('is run alone if nothing is wrong with it', async () => {
    expect(await run(['7:2', '7:3', '7:4'], ['7:3'])).toEqual(['7:2'])
  })

  it('is shortened if it fails', async () => {
    expect(await run(['7:2', '7:2:0', '7:2:1'], ['7:2', '7:2:1'])).toEqual([
      '7:2',
      '7:2:0',
      '7:2:1',
    ])
  })
})
