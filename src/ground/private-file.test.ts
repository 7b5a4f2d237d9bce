import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ofAnotherUser, temporaryFolder } from '../../integration-tests/testing/files.ts'
import {
  openOwnFile,
  ownFile,
  ownFolder,
  privately,
  readOwnFile,
  replacePrivateFile,
  resolvedFile,
} from './private-file.ts'

function inFolder(name: string): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  return join(path, name)
}

/** What others can put in the place of a file, by what a message says of it. */
const PLANTED: Readonly<Record<string, (path: string) => void>> = {
  'is a symbolic link': (path) => {
    writeFileSync(`${path}.target`, 'mine')
    symlinkSync(`${path}.target`, path)
  },
  'is no regular file': (path) => void execFileSync('mkfifo', [path]),
  'belongs to another user': (path) => {
    writeFileSync(path, '', { mode: 0o666 })
    onTestFinished(ofAnotherUser(path))
  },
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT

describe.each(Object.entries(PLANTED))('what %s', (what, plant) => {
  it.each([
    ['is not trusted', ownFile],
    ['is not read', readOwnFile],
    ['is not written', (path: string) => closeSync(openOwnFile(path, APPEND))],
  ])('%s', (_how, use) => {
    const path = inFolder('planted')
    plant(path)
    expect(() => use(path)).toThrow(`${path} ${what}, so it is neither read nor written.`)
  })
})

it('a file that is missing is created, and only its owner can read it', () => {
  const path = inFolder('new')
  expect([ownFile(path), readOwnFile(path)]).toEqual([undefined, undefined])
  for (const text of ['a', 'b']) {
    const file = openOwnFile(path, APPEND)
    writeSync(file, text)
    closeSync(file)
  }
  expect(readOwnFile(path)).toBe('ab')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('a file is replaced, and nothing beside it', async () => {
  const path = inFolder('store.json')
  writeFileSync(`${path}.new`, 'of the user')
  for (const text of ['a', 'b']) {
    writeFileSync(`${path}.protime-0123456789ab`, 'left by a crash')
    await replacePrivateFile(path, text)
  }
  expect([readFileSync(path, 'utf8'), readFileSync(`${path}.new`, 'utf8')]).toEqual([
    'b',
    'of the user',
  ])
  expect(readdirSync(dirname(path)).toSorted()).toEqual(['store.json', 'store.json.new'])
})

it('a file is replaced in a folder that this user may write, but not list', async () => {
  const path = inFolder('store.json')
  chmodSync(dirname(path), 0o300)
  onTestFinished(() => chmodSync(dirname(path), 0o700))
  for (const text of ['a', 'b']) await replacePrivateFile(path, text)
  expect(readFileSync(path, 'utf8')).toBe('b')
})

it('a folder is made for its owner alone, used again, and nothing else that has its name', () => {
  const path = inFolder('folder')
  ownFolder(path)
  ownFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
  const [link, file] = [`${path}.link`, `${path}.file`]
  symlinkSync(path, link)
  writeFileSync(file, '')
  expect(() => ownFolder(link)).toThrow('is a symbolic link')
  expect(() => ownFolder(file)).toThrow('is no folder')
  onTestFinished(ofAnotherUser(path))
  expect(() => ownFolder(path)).toThrow('belongs to another user')
})

it('works that overlap are private until the last one ends, and others are not afterwards', async () => {
  const before = process.umask()
  const ends: (() => void)[] = []
  const works = [0, 1].map(() => privately(() => new Promise<void>((end) => ends.push(end))))
  ends[0]?.()
  await works[0]
  expect(process.umask()).toBe(0o077)
  ends[1]?.()
  await works[1]
  expect(process.umask()).toBe(before)
})

describe('a path that a person has named', () => {
  it('is the file behind a link of that person, even if there is none yet', () => {
    const path = inFolder('link')
    symlinkSync('real', path)
    expect(basename(resolvedFile(path))).toBe('real')
    writeFileSync(join(dirname(path), 'real'), 'rows')
    expect(readFileSync(resolvedFile(path), 'utf8')).toBe('rows')
  })

  it('is not the file behind a link of another user', () => {
    const path = inFolder('link')
    symlinkSync('real', path)
    onTestFinished(ofAnotherUser(path))
    expect(() => resolvedFile(path)).toThrow('belongs to another user')
  })
})
