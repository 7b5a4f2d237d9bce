import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageVersion, readProjectJson } from '../src/ground/project-files.ts'
import {
  dockerRuns,
  guideBlock,
  guideBlocks,
  INSTALL_GUIDE,
  installBlocks,
  installText,
  PLACES,
  withPackage,
  withVersion,
} from './guide-blocks.ts'
import { pluginSettings, type Specification } from './listings.ts'

const guide = readFileSync(INSTALL_GUIDE, 'utf8')

describe('docs/install.md', () => {
  it('names a place for each block in which it is run', () => {
    const places = new Set(installBlocks().map(({ place }) => place))
    expect([...places].toSorted()).toEqual(Object.keys(PLACES).toSorted())
  })

  it.each(installBlocks().filter(({ language }) => language === 'sh'))(
    'is a shell program in the block for $place',
    ({ text }) => {
      expect(() => execFileSync('sh', ['-n'], { input: text })).not.toThrow()
    },
  )

  it('names variables that Meltano has for the settings', () => {
    const settings = pluginSettings(readProjectJson('#spec') as Specification)
    const known = settings.map(({ name }) => `TAP_PROTIME_${name.toUpperCase().replace('.', '_')}`)
    const named = installText('sh', 'settings').match(/^\w+(?==)/gm) ?? []
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })

  it('names images of the present version (npm run docs writes it)', () => {
    expect(withVersion(guide, packageVersion())).toBe(guide)
    expect(withVersion(guide, '9.9.9')).toContain(
      'run --rm source-protime/source-protime:9.9.9 spec',
    )
    expect(withVersion(guide, '9.9.9')).not.toMatch(/(?<!version )\b0\.1\.0\b/)
  })
})

it('README and the guide of the warehouse install DuckDB by the same lines', () => {
  expect(guideBlock('sh pip', 'README.md')).toBe(installText('sh', 'extra'))
  const [first] = guideBlocks('sh', 'docs/warehouse.md')
  expect(first).toBe(installText('sh', 'warehouse'))
})

it('a package of our own takes the place of the published one, in installations only', () => {
  const commands =
    'pip install airbyte source-protime\nnpm install source-protime\nsource-protime spec\n'
  expect(withPackage(commands, '/x/y.whl')).toBe(
    'pip install airbyte /x/y.whl\nnpm install /x/y.whl\nsource-protime spec\n',
  )
})

it('the docker commands can be followed without Docker', () => {
  const image = `source-protime/source-protime:${packageVersion()}`
  const runs = dockerRuns(installText('sh', 'image'))
  expect(runs.map((run) => run.image)).toEqual(Array(5).fill(image))
  expect(runs.slice(-2)).toEqual([
    {
      image,
      args: 'read --config /source/config.json --catalog /source/catalog.json'.split(' '),
      output: 'messages.jsonl',
    },
    {
      image,
      entrypoint: 'tap-protime',
      args: ['--config', '/source/config.json'],
      output: 'singer.jsonl',
    },
  ])
  expect(() => dockerRuns('docker run --network host x y')).toThrow('not understood')
})
