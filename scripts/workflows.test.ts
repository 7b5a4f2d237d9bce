import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
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
