import { expect, it } from 'vitest'
import { readOption } from './command-line.ts'

it.each(['', ' '])('a file without a name, %j, is told from one that is missing', async (file) => {
  await expect(readOption('--state', file)).rejects.toThrow(
    'The command line is not valid: the option --state is empty. Try --help.',
  )
})
