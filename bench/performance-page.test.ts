import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { performanceChart } from './performance-page.ts'

it('the chart of the page shows the figures of its table', () => {
  const chart = performanceChart(readFileSync('docs/performance.md', 'utf8'))
  expect(readFileSync('docs/performance.svg', 'utf8')).toBe(chart)
})

it('a bar is as long as its number is large', () => {
  const table = '| a | 100 | 1 |\n| b | 50 | 1 |\n'
  const chart = performanceChart(`# P\n\n## Eight million\n\n${table}\n## Next\n\n| c | 7 |\n`)
  const widths = [...chart.matchAll(/width="(\d+)" height="28"/g)].map(([, width]) => Number(width))
  expect(widths).toEqual([420, 210])
})
