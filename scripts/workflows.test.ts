import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from '../integration-tests/testing/files.ts'
import { publishedImages } from './release.ts'

const FOLDER = '.github/workflows'
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const workflows = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(join(FOLDER, name), 'utf8'),
}))

describe.each(workflows)('$name', ({ text }) => {
  it('takes each action of others at one commit, and says which version that is', () => {
    const used = [...text.matchAll(/uses: (.+)/g)].map(([, action = '']) => action)
    const others = used.filter((action) => !action.startsWith('./'))
    expect(others.length).toBeGreaterThan(0)
    expect(
      others.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
    ).toEqual([])
  })

  it('may read, unless a job is given more', () => {
    const given: Record<string, string> = parse(text).permissions
    expect(Object.values(given).filter((access) => access !== 'read')).toEqual([])
  })

  it('runs existing scripts', () => {
    const run = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script)
    expect(run.filter((script) => scripts[script ?? ''] === undefined)).toEqual([])
  })
})

const textOf = (wanted: string) => workflows.find(({ name }) => name === wanted)?.text ?? ''

describe('a release', () => {
  const { jobs } = parse(textOf('release.yml'))

  it('was searched for known vulnerabilities before, and the published images are every week', () => {
    expect([jobs.test.uses, jobs.build.needs]).toEqual(['./.github/workflows/test.yml', 'test'])
    const scans = ['test.yml', 'scan.yml'].map((name) => textOf(name).match(/grype@\S+ .*/g))
    expect(scans.flat()).toEqual([
      expect.stringMatching(/ docker:candidate --only-fixed --fail-on high$/),
      expect.stringMatching(/ "registry:.*" --only-fixed --fail-on high$/),
    ])
    expect(new Set(scans.flat().map((line) => line?.split(' ')[0])).size).toBe(1)
  })

  it('is every image that a week of scans covers', () => {
    const names = publishedImages(textOf('release.yml'), '1.0.0').map(({ name }) => name)
    const [, scanned = ''] = /for image in (.*); do/.exec(textOf('scan.yml')) ?? []
    expect(names).toEqual(scanned.split(' ').map((name) => `source-protime/${name}:1.0.0`))
  })

  it('is signed by the digest of each image that was pushed', () => {
    const steps: {
      id?: string
      uses?: string
      run?: string
      env?: object
      with?: { tags: string }
    }[] = jobs.image.steps
    const pushed = steps.filter(({ uses }) => uses?.startsWith('docker/build-push-action@'))
    const signing = steps.find(({ run }) => run?.includes('cosign'))
    expect(Object.values(signing?.env ?? {}).map(String)).toEqual(
      pushed.map(
        ({ id, with: given }) => `${given?.tags.split(':')[0]}@\${{ steps.${id}.outputs.digest }}`,
      ),
    )
  })
})

it('Dependabot waits a week with each kind of update, and knows the Dockerfile', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8'))
  const kinds = updates.map((one: Record<string, unknown>) => [
    one['package-ecosystem'],
    one['cooldown'],
  ])
  const week = { 'default-days': 7 }
  expect(kinds).toEqual([
    ['github-actions', week],
    ['npm', week],
    ['pip', week],
    ['docker', week],
  ])
  expect(updates[3].directory).toBe('/')
})

it('an action has the same commit wherever it is taken', () => {
  const all = workflows.flatMap(({ text }) => text.match(/uses: [\w./-]+@.+/g) ?? [])
  const names = new Set(all.map((line) => line.split('@')[0]))
  expect(new Set(all).size).toBe(names.size)
})

describe('the mirror of the dbt package', () => {
  const { steps } = parse(textOf('release.yml')).jobs.dbt as {
    steps: { run?: string; shell?: string }[]
  }
  const push = steps.find(({ run }) => run !== undefined)
  let folder: ReturnType<typeof temporaryFolder>
  let mirror: string
  beforeEach(() => {
    folder = temporaryFolder()
    mirror = join(folder.path, 'mirror.git')
    run('git', ['init', '--quiet', '--bare', '--initial-branch=main', mirror])
  })
  afterEach(() => folder.remove())

  function run(program: string, args: readonly string[], env: object = {}): string {
    const options = { cwd: folder.path, encoding: 'utf8' } as const
    return execFileSync(program, args, { ...options, env: { ...process.env, ...env } })
  }

  /** Runs the step for a release with these files, with a folder in place of GitHub; returns what it prints. */
  function release(tag: string, files: Readonly<Record<string, string>>, variables = {}): string {
    const name = `dbt-protime-${tag.slice(1)}`
    for (const made of [`${name}/models`, 'release', 'temporary'])
      mkdirSync(join(folder.path, made), { recursive: true })
    for (const [path, text] of Object.entries(files))
      writeFileSync(join(folder.path, name, path), text)
    run('tar', ['-czf', `release/${name}.tar.gz`, name])
    expect(push?.shell).toBe('bash')
    const said = run('bash', ['-eo', 'pipefail', '-c', push?.run ?? ''], {
      MIRROR: 'acme/dbt-protime',
      KEY: 'a key',
      RUNNER_TEMP: join(folder.path, 'temporary'),
      GITHUB_REF_NAME: tag,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.${mirror}.insteadOf`,
      GIT_CONFIG_VALUE_0: 'git@github.com:acme/dbt-protime.git',
      ...variables,
    })
    for (const made of ['release', 'temporary'])
      rmSync(join(folder.path, made), { recursive: true })
    return said
  }

  /** The files of a revision of the mirror. */
  function filesOf(revision: string): string[] {
    const args = ['-C', mirror, 'ls-tree', '-r', '--name-only', revision]
    return run('git', args).trim().split('\n')
  }

  it('has a commit and a tag per release, with the files of the archive at its root', () => {
    const first = { 'dbt_project.yml': 'version: 1.0.0', 'models/old.sql': 'select 1' }
    expect(release('v1.0.0', first)).toBe('v1.0.0 was pushed to the mirror.\n')
    release('v1.1.0', { 'dbt_project.yml': 'version: 1.1.0', 'models/new.sql': 'select 2' })
    expect([filesOf('v1.0.0'), filesOf('v1.1.0')]).toEqual([
      ['dbt_project.yml', 'models/old.sql'],
      ['dbt_project.yml', 'models/new.sql'],
    ])
    expect(run('git', ['-C', mirror, 'rev-list', '--count', 'main'])).toBe('2\n')
    expect(run('git', ['-C', mirror, 'show', 'main:dbt_project.yml'])).toBe('version: 1.1.0')
  })

  it('does not change a release that it already has', () => {
    release('v1.0.0', { 'dbt_project.yml': 'version: 1.0.0' })
    expect(release('v1.0.0', { 'dbt_project.yml': 'another' })).toBe('The mirror has v1.0.0.\n')
    expect(run('git', ['-C', mirror, 'show', 'v1.0.0:dbt_project.yml'])).toBe('version: 1.0.0')
  })

  it.each(['MIRROR', 'KEY'])('gets nothing while %s is not set up', (name) => {
    const said = release('v1.0.0', { 'dbt_project.yml': 'version: 1.0.0' }, { [name]: '' })
    expect(said).toContain('Nothing was pushed: docs/releasing.md says')
    expect(run('git', ['-C', mirror, 'for-each-ref'])).toBe('')
  })
})
