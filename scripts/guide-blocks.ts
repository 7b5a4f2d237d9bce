import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../src/ground/project-files.ts'

export const INSTALL_GUIDE = 'docs/install.md'

/** The manifests for Kubernetes that name images. */
export const MANIFESTS = ['tenant', 'webhooks'].map((name) => `deploy/kubernetes/${name}.yaml`)

/** The commands that test the blocks of the guide, by the word after the language of a block. */
export const PLACES = {
  pyairbyte: 'npm run test:engines -- install',
  meltano: 'npm run test:engines -- install',
  singer: 'npm run test:engines -- install',
  pip: 'npm run test:engines -- install',
  npm: 'npm run test:engines -- install',
  image: 'npm run test:image',
  duckdb: 'npm run test:image',
  warehouse: 'npm run test:packages',
  extra: 'npm run test:packages',
  kubernetes: 'npm run test:deploy',
  clone: '.ci/run',
  build: 'npm run release -- --dry-run',
  settings: 'npm test',
  demo: 'npm run test:demo',
} as const

export type Place = keyof typeof PLACES

export interface Block {
  readonly language: string
  readonly place: string
  readonly text: string
}

/** Every block of docs/install.md, in its order. */
export function installBlocks(guide = readGuide()): Block[] {
  return [...guide.matchAll(/^```(\w+)(?: (\w+))?\n(.*?)^```$/gms)].map(
    ([, language = '', place = '', text = '']) => ({ language, place, text }),
  )
}

/** The text of the block of docs/install.md with this language and place; throws unless there is exactly one. */
export function installText(language: 'sh' | 'python', place: Place): string {
  const found = installBlocks().filter(
    (block) => block.language === language && block.place === place,
  )
  const [block] = found
  if (block === undefined || found.length > 1)
    throw new Error(`docs/install.md has ${found.length} blocks of ${language} ${place}`)
  return block.text
}

/** The same commands, but they install this file instead of the published package. */
export function withPackage(commands: string, path: string): string {
  return commands.replace(/^((?:npm|pip) install (?:.* )?)source-protime$/gm, `$1${path}`)
}

/** One `docker run` of the guide. */
export interface DockerRun {
  readonly image: string
  /** The program that replaces the image's entry point. */
  readonly entrypoint?: string
  readonly args: readonly string[]
  /** The file that takes the output, in the folder that is mounted as /source. */
  readonly output?: string
}

/** The `docker run` lines of a block, for a machine that has no Docker; throws for any other line. */
export function dockerRuns(commands: string): DockerRun[] {
  const form =
    /^docker run --rm(?: --user "\$\(id -u\):\$\(id -g\)" -v "\$PWD:\/source:ro")?(?: --entrypoint (\S+))? (\S+) ([^>]+?)(?: > (\S+))?$/
  return commands
    .trim()
    .split('\n')
    .map((line) => {
      const [, entrypoint, image, words, output] = form.exec(line) ?? []
      if (image === undefined || words === undefined) throw new Error(`not understood: ${line}`)
      return {
        image,
        ...(entrypoint === undefined ? {} : { entrypoint }),
        args: words.split(' '),
        ...(output === undefined ? {} : { output }),
      }
    })
}

/** The text of a file with this version in the names of images and wheels. */
export function withVersion(text: string, version: string): string {
  return text.replace(
    /(source-protime\/(?:(?:source|destination)-protime|protime-sync):|source_protime-|VERSION=|the tag `)\d+\.\d+\.\d+/g,
    `$1${version}`,
  )
}

function readGuide(): string {
  return readFileSync(join(packageFolder(), INSTALL_GUIDE), 'utf8')
}

/** The blocks of a page whose fence has these words, in their order. */
export function guideBlocks(words: string, file = 'docs/writing.md'): string[] {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, fence, text = '']) => (fence === words ? [text] : []))
}

/** The block of a page whose fence has these words; throws unless there is exactly one. */
export function guideBlock(words: string, file = 'docs/writing.md'): string {
  const [block, ...others] = guideBlocks(words, file)
  if (block !== undefined && others.length === 0) return block
  throw new Error(`${file} has not one block ${words}`)
}
