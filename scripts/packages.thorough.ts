import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  carriedPackages,
  compiledIn,
  notice,
  npmMaterials,
  postgresPackages,
  productionPackages,
  programMaterials,
} from './bill-of-materials.ts'
import { layOutDuckDb, layOutPackage, layOutPostgres, ownPlatform } from './packages.ts'

let tree: string
beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'tree-'))
  layOutPackage(tree, false)
})
afterAll(() => rmSync(tree, { recursive: true }))

describe('the tree of image and wheel', () => {
  const namesIn = (bill: string) =>
    (JSON.parse(bill) as { components: { name: string }[] }).components.map(({ name }) => name)

  it('holds the packages of its bill of materials, and AssemblyScript and ajv compiled in', () => {
    const names = namesIn(readFileSync(join(tree, 'sbom.cdx.json'), 'utf8'))
    const carried = readdirSync(join(tree, 'node_modules'))
    expect(carried).toEqual(['commander', 'roaring-wasm', 'undici'])
    expect(names).toEqual([...carried, 'assemblyscript', 'ajv'])
  })

  it('has a bill of materials that follows its contents', () => {
    const duckdb = mkdtempSync(join(tmpdir(), 'duckdb-'))
    onTestFinished(() => rmSync(duckdb, { recursive: true }))
    layOutDuckDb(duckdb, ownPlatform())
    const inDuckDb = namesIn(readFileSync(join(duckdb, 'sbom.cdx.json'), 'utf8'))
    const bindings = `@duckdb/node-bindings-${ownPlatform()}`
    const packages = ['@duckdb/node-api', '@duckdb/node-bindings', bindings, 'detect-libc']
    expect(inDuckDb.toSorted()).toEqual(packages)
    const image = mkdtempSync(join(tmpdir(), 'image-'))
    onTestFinished(() => rmSync(image, { recursive: true }))
    layOutPostgres(image)
    const inPostgres = postgresPackages().map(({ name }) => name)
    expect(inPostgres).toContain('pg-protocol')
    for (const part of [tree, duckdb]) cpSync(part, image, { recursive: true })
    expect(namesIn(programMaterials(image)).toSorted()).toEqual(
      [
        ...packages,
        ...inPostgres,
        ...carriedPackages().map(({ name }) => name),
        'assemblyscript',
        'ajv',
      ].toSorted(),
    )
  })

  it('checks a configuration without ajv', () => {
    const program = join(tree, 'bin/source-protime')
    const config = join(tree, 'config.json')
    writeFileSync(config, '{}', { mode: 0o600 })
    const args = [program, 'check', '--config', config]
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stdout).toContain('"status":"FAILED"')
    expect(stdout).not.toContain('Cannot find')
  })

  it('has the programs that read and write, and neither emulator nor types nor tests', () => {
    const files = readdirSync(tree, { recursive: true, encoding: 'utf8' })
    const own = files.filter((path) => !path.startsWith('node_modules'))
    expect(own).toContain('bin/source-protime')
    expect(own).toContain('bin/tap-protime')
    expect(own).toContain('bin/protime')
    expect(own).toContain('bin/destination-protime')
    expect(own).toContain('bin/target-protime')
    expect(
      own.filter((path) =>
        /emulator|testing|docs|acceptance|airbyte-message\.|\.test\.|\.ts$|bench|scripts/.test(
          path,
        ),
      ),
    ).toEqual([])
  })
})

it('the wheel has every program of the npm package', () => {
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: object }
  const wheel = mkdtempSync(join(tmpdir(), 'wheel-'))
  layOutPackage(wheel, true)
  expect(readdirSync(join(wheel, 'bin')).toSorted()).toEqual(Object.keys(bin).toSorted())
  const emulator = spawnSync(process.execPath, [join(wheel, 'bin/protime-emulator'), '--help'])
  expect([emulator.status, emulator.stdout.toString()]).toEqual([
    0,
    expect.stringContaining('--people'),
  ])
  const [, scripts = ''] = readFileSync('python/pyproject.toml', 'utf8').split('[project.scripts]')
  expect((scripts.match(/^[\w-]+(?= = "source_protime:)/gm) ?? []).toSorted()).toEqual(
    Object.keys(bin).toSorted(),
  )
  rmSync(wheel, { recursive: true })
})

it('the names of all programs are reserved before the first release', () => {
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: object }
  const [, names = ''] =
    /- \*\*Names\*\*: ([\s\S]*?)\n- /.exec(readFileSync('docs/releasing.md', 'utf8')) ?? []
  for (const name of Object.keys(bin)) expect(names).toContain(`\`${name}\``)
})

it('the npm package has a bill of materials with all that npm installs, in exact versions', () => {
  const { components } = JSON.parse(npmMaterials()) as {
    components: { name: string; version: string }[]
  }
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Readonly<Record<string, string>>
  }
  expect(components.map(({ name }) => name)).toEqual([
    ...productionPackages().map(({ name }) => name),
    'assemblyscript',
  ])
  expect(components.map(({ name }) => name)).toContain('fast-uri')
  for (const [name, version] of Object.entries(dependencies))
    expect(components).toContainEqual(expect.objectContaining({ name, version }))
})

it('the wheel says of itself what package.json says', () => {
  const { description, license, keywords, repository } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  ) as { description: string; license: string; keywords: string[]; repository: { url: string } }
  const wheel = readFileSync('python/pyproject.toml', 'utf8')
  expect(wheel).toContain(`description = "${description}"`)
  const licences = [
    ...carriedPackages(),
    ...Object.values(compiledIn()),
    ...postgresPackages(),
  ].map((one) => one.license)
  expect(wheel).toContain(`license = "${[...new Set([license, ...licences])].join(' AND ')}"`)
  expect(wheel).toContain(`keywords = [${keywords.map((word) => `"${word}"`).join(', ')}]`)
  expect(repository.url).toContain(/Repository = "(.+)"/.exec(wheel)?.[1])
})

it('NOTICE names all shipped packages (npm run docs)', () => {
  expect(readFileSync('NOTICE', 'utf8')).toBe(notice())
})
