import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from './testing/files.ts'
import { protime } from './testing/protime.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
  writeFileSync(path('acme.duckdb'), '')
})
afterEach(() => folder.remove())

const path = (name: string) => join(folder.path, name)
const init = (project = 'models') =>
  protime('dbt', 'init', '--warehouse', path('acme.duckdb'), '--project', path(project))

describe('protime dbt init', () => {
  it('writes a project that attaches the warehouse, and has the package of this version', async () => {
    const { exitCode, stderr } = await init()
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Next: dbt build')])
    const { protime: profile } = parse(readFileSync(path('models/profiles.yml'), 'utf8'))
    expect(profile.outputs.warehouse.attach).toEqual([
      { path: '../acme.duckdb', alias: 'raw', read_only: true },
    ])
    const { packages } = parse(readFileSync(path('models/packages.yml'), 'utf8'))
    const own = realpathSync(path(`models/${packages[0].local}`))
    expect(realpathSync(path('models/dbt_packages/protime'))).toBe(own)
    for (const name of ['dbt_project.yml', 'models/marts/protime__person_days.sql'])
      expect(readFileSync(join(own, name))).toEqual(readFileSync(join('dbt', name)))
  })

  it('touches no file of a project that is there already', async () => {
    await init()
    writeFileSync(path('models/profiles.yml'), 'mine')
    const { exitCode, stderr } = await init()
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('exists already')])
    expect(readFileSync(path('models/profiles.yml'), 'utf8')).toBe('mine')
  })

  it('says which command makes the warehouse where there is none', async () => {
    const { exitCode, stderr } = await protime('dbt', 'init', '--warehouse', path('none.duckdb'))
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('create it with protime sync')])
    expect(readdirSync(folder.path)).toEqual(['acme.duckdb'])
  })

  it('refuses a folder in place of the warehouse', async () => {
    const { exitCode, stderr } = await protime(
      'dbt',
      'init',
      '--warehouse',
      folder.path,
      '--project',
      path('models'),
    )
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is a folder')])
  })
})
