import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expectSame } from '../engines/command.ts'

/** Where the connector is in its image. */
export const HOME = '/airbyte/integration_code'
/** What installs software, and is of no use where nothing can be written. */
const INSTALLERS = /\/(npm|npx|corepack|yarn|yarnpkg|apt|apt-get|dpkg)$/
const LARGEST_BYTES = 8_000_000

/** What `lstat` tells of one file of an image. */
interface ImageFile {
  readonly bytes: number
  readonly mode: number
  /** When the content or a fact of the file was last changed. */
  readonly changed: number
  /** Where a link leads to. */
  readonly link?: string
}

type Files = ReadonlyMap<string, ImageFile>

/** Every file and folder below `root`, by its path in the image. */
export function filesOf(root: string): Files {
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

/** How many bytes the image has above its base; throws what is wrong with its files, those of its base included. */
export function judgeFiles(image: Files, base: Files): number {
  const added = [...image].filter(([path]) => !base.has(path))
  const paths = added.map(([path]) => path)
  const bytes = added.reduce((sum, [, file]) => sum + file.bytes, 0)
  if (bytes > LARGEST_BYTES) throw new Error(`${bytes} bytes above the base`)
  const programs = paths.filter((path) => path.startsWith(`${HOME}/bin/`))
  const links = added.flatMap(([path, { link }]) =>
    path.startsWith('/usr/local/bin/') && link !== undefined ? [link] : [],
  )
  expectSame(links.toSorted(), programs.toSorted())
  const own = paths.filter((path) => !path.includes('/node_modules/'))
  const wrong = [
    ...[...image.keys()].filter((path) => INSTALLERS.test(path)),
    ...[...image].filter(([, { mode }]) => (mode & 0o6000) !== 0).map(([path]) => path),
    ...paths.filter((path) => !/^\/(airbyte$|airbyte\/|usr\/local\/bin\/)/.test(path)),
    ...own.filter((path) => /testing|\.test\.|emulator|bench|\.ts$|scripts|secrets/.test(path)),
    ...added.filter(([, { mode, link }]) => !link && (mode & 0o022) !== 0).map(([path]) => path),
  ]
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  const wasm = ['dist/scan.wasm', 'dist/rows.wasm']
  for (const file of ['NOTICE', 'LICENSE', 'spec.json', 'sbom.cdx.json', ...wasm])
    if (!image.has(`${HOME}/${file}`)) throw new Error(`there is no ${file}`)
  return bytes
}
