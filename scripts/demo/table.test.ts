import { expect, it } from 'vitest'
import { table } from './table.ts'

it('aligns numbers to the right and texts to the left', () => {
  const text = table(
    ['stream', 'rows', 'share'],
    [
      ['people', '1,300', '0.5'],
      ['job_histories', '7', ''],
    ],
  )
  expect(text.split('\n')).toEqual([
    'stream          rows  share',
    '-------------  -----  -----',
    'people         1,300    0.5',
    'job_histories      7',
  ])
})

it('shows the head of an answer without rows', () => {
  expect(table(['a', 'bc'], [])).toBe('a  bc\n-  --')
})
