import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

/** Runs a command of a connector into a file; `input` is what it reads. Throws unless it ends with 0. */
export async function save(
  executable: string,
  args: readonly string[],
  path: string,
  input = '',
): Promise<void> {
  const child = spawn(executable, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  Readable.from([input]).pipe(child.stdin)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await finished(child.stdout.pipe(createWriteStream(path)))
  const exitCode = await ended
  if (exitCode !== 0) throw new Error(`${args[0]} ended with ${exitCode}`)
}
