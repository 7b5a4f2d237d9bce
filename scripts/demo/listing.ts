import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageFolder } from './paths.ts'

/**
 * What README shows of a command, by the words that its line begins with: the lines that were printed in one
 * piece, piece by piece. README writes `...` for what it leaves out.
 */
export function shownPieces(command: string): string[] {
  const readme = readFileSync(join(packageFolder, 'README.md'), 'utf8')
  const [, listing = ''] = readme.split(`\n$ ${command}\n`)
  const [shown = ''] = listing.split('\n```')
  return shown.split(/\n *\.\.\.\n/)
}

/** Runs the demo with these options and its files in a folder; answers with what it prints. */
export async function runDemo(folder: string, ...options: readonly string[]): Promise<string> {
  const program = [join(packageFolder, 'dist/scripts/demo.js'), ...options]
  const env = { ...process.env, DEMO_OUTPUT: folder }
  const { stdout } = await promisify(execFile)(process.execPath, program, { env })
  return stdout
}

/** The pieces that do not stand in a text in their order; `mask` is made of both before. */
export function missingPieces(
  pieces: readonly string[],
  text: string,
  mask: (text: string) => string,
): string[] {
  let rest = mask(text)
  return pieces.map(mask).filter((piece) => {
    const at = rest.indexOf(piece)
    rest = rest.slice(at + piece.length)
    return at < 0
  })
}
