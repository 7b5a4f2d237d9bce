import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  baseImages,
  integrityOf,
  unpinnedImages,
  unverifiedPackages,
  withDigests,
  withIntegrities,
} from './pins.ts'

const INTEGRITY = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
const DIGEST = `sha256:${'0a'.repeat(32)}`
const LOCK = JSON.stringify({
  name: 'x',
  packages: {
    '': { version: '1.0.0' },
    'node_modules/a': { version: '1.0.0', integrity: INTEGRITY },
    'node_modules/a/node_modules/@b/c': { version: '2.0.0', optional: true },
    'node_modules/part': { version: '1.0.0', inBundle: true },
    'node_modules/own': { link: true },
  },
})

describe('a lockfile', () => {
  it('has packages that are not verified: those without an integrity that are downloaded', () => {
    expect(unverifiedPackages(LOCK).map(({ id }) => id)).toEqual(['@b/c@2.0.0'])
  })

  it('gets the integrity that the registry knows, and keeps the rest', async () => {
    const pinned = JSON.parse(await withIntegrities(LOCK, async () => INTEGRITY))
    expect(pinned.packages['node_modules/a/node_modules/@b/c']).toEqual({
      version: '2.0.0',
      integrity: INTEGRITY,
      optional: true,
    })
    expect({ ...pinned, packages: Object.keys(pinned.packages) }).toEqual({
      name: 'x',
      packages: Object.keys(JSON.parse(LOCK).packages),
    })
  })

  it('is not changed if the registry does not have the package', async () => {
    const lock = readFileSync('package-lock.json', 'utf8')
    expect(await withIntegrities(lock, async () => undefined)).toBe(lock)
  })
})

describe('npm', () => {
  const registry = createServer(({ url }, response) => {
    const dist = { integrity: INTEGRITY, tarball: 'http://127.0.0.1/c.tgz' }
    const version = { name: '@b/c', version: '2.0.0', dist }
    const known = url?.toLowerCase() === '/@b%2fc'
    response
      .writeHead(known ? 200 : 404)
      .end(JSON.stringify({ name: '@b/c', 'dist-tags': {}, versions: { '2.0.0': version } }))
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    registry.close()
  })

  it('returns the integrity of exactly one version', async () => {
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
    const { port } = registry.address() as AddressInfo
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${port}`)
    const ids = ['@b/c@2.0.0', '@b/c@2.0.1', 'd@1.0.0']
    expect(await Promise.all(ids.map(integrityOf))).toEqual([INTEGRITY, undefined, undefined])
  })
})

describe('a Dockerfile', () => {
  const FILE = `FROM --platform=$BUILDPLATFORM node:24 AS build
FROM node:24 AS node
FROM build AS next
FROM \${OTHER}
FROM scratch
COPY node:24 /
FROM a/b@${DIGEST}
`

  it('begins with images of registries, beside stages and arguments', () => {
    expect(baseImages(FILE)).toEqual(['node:24', `a/b@${DIGEST}`])
    expect(unpinnedImages(FILE)).toEqual(['node:24'])
  })

  it('gets a digest behind each name', async () => {
    const pinned = await withDigests(FILE, async () => DIGEST)
    expect(unpinnedImages(pinned)).toEqual([])
    expect(pinned.replaceAll(`node:24@${DIGEST}`, 'node:24')).toBe(FILE)
    expect(pinned).toContain('COPY node:24 /')
  })

  it('gets only digests', async () => {
    await expect(withDigests(FILE, async () => 'latest')).rejects.toThrow('latest is no digest')
  })
})

describe('this project', () => {
  it('verifies every package except native code of other platforms, which a release refuses until npm run pin', () => {
    const lock = readFileSync('package-lock.json', 'utf8')
    const ids = unverifiedPackages(lock).map(({ id }) => id)
    expect(ids.filter((id) => !AWAITED.includes(id))).toEqual([])
    expect(lock).not.toMatch(/"resolved"|:\/\/registry/)
  })

  it('builds all images on one image of Node', () => {
    expect(baseImages(readFileSync('Dockerfile', 'utf8'))).toHaveLength(1)
  })
})

/** npm writes no integrity for packages of other platforms, which it does not install. */
const AWAITED = [
  ...platforms('@biomejs/cli', '2.6.8', [
    ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64', 'linux-arm64-musl'],
    ...['linux-x64-musl', 'win32-arm64', 'win32-x64'],
  ]),
  ...platforms('@duckdb/node-bindings', '1.5.6-r.1', [
    ...['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-arm64-musl', 'win32-arm64'],
    ...['win32-x64'],
  ]),
  ...platforms('@oxc-parser/binding', '0.156.0', [
    ...['android-arm-eabi', 'android-arm64', 'darwin-arm64', 'darwin-x64', 'freebsd-x64'],
    ...['linux-arm-gnueabihf', 'linux-arm-musleabihf', 'linux-ppc64-gnu', 'linux-riscv64-gnu'],
    ...['linux-riscv64-musl', 'linux-s390x-gnu', 'openharmony-arm64', 'win32-arm64-msvc'],
    ...['win32-ia32-msvc', 'win32-x64-msvc'],
  ]),
]

function platforms(name: string, version: string, suffixes: readonly string[]): string[] {
  return suffixes.map((suffix) => `${name}-${suffix}@${version}`)
}
