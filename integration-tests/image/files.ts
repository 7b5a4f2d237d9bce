import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** What `lstat` tells of one file of an image. */
export interface ImageFile {
  readonly bytes: number
  readonly mode: number
  /** When the content or a fact of the file was last changed. */
  readonly changed: number
  /** Where a link leads to. */
  readonly link?: string
}

/** Every file and folder below `root`, by its path in the image. */
export function filesOf(root: string): ReadonlyMap<string, ImageFile> {
  const files = new Map<string, ImageFile>()
  const walk = (path: string) => {
    for (const name of readdirSync(join(root, path))) {
      const inner = `${path}/${name}`
      const facts = lstatSync(join(root, inner))
      files.set(inner, {
        bytes: facts.isDirectory() ? 0 : facts.size,
        mode: facts.mode & 0o7777,
        changed: facts.ctimeMs,
        ...(facts.isSymbolicLink() && { link: readlinkSync(join(root, inner)) }),
      })
      if (facts.isDirectory()) walk(inner)
    }
  }
  walk('')
  return files
}
