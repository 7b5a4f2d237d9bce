import { describe, expect, it } from 'vitest'
import { packageVersion } from '../src/ground/project-files.ts'
import { decisionsPage, siteFiles, sitePage } from './site.ts'

const REPOSITORY = 'https://github.com/source-protime/source-protime'

describe('a link of a page of the site', () => {
  it.each([
    ['README.md', 'docs/warehouse.md', 'warehouse.md'],
    ['README.md', 'docs/install.md#a-clone', 'install.md#a-clone'],
    ['README.md', 'docs/sync.svg', 'sync.svg'],
    ['README.md', 'dbt/README.md', 'dbt.md'],
    ['README.md', 'docs/decisions', 'decisions/index.md'],
    ['docs/install.md', '../dbt/README.md', 'dbt.md'],
    ['docs/architecture.md', 'decisions/the-state-is-flat.md', 'decisions/the-state-is-flat.md'],
    ['docs/decisions/the-state-is-flat.md', '../service.md#limits', '../service.md#limits'],
    ['dbt/README.md', '../README.md', 'index.md'],
    ['CONTRIBUTING.md', 'docs/releasing.md', 'releasing.md'],
  ])('of %s to the page %s leads to it', (file, target, place) => {
    expect(sitePage(`See [it](${target}).`, file)).toBe(`See [it](${place}).`)
  })

  it.each([
    ['docs/install.md', '../meltano.yml', 'blob', 'meltano.yml'],
    ['README.md', 'LICENSE', 'blob', 'LICENSE'],
    ['docs/many-tenants.md', '../deploy/kubernetes', 'tree', 'deploy/kubernetes'],
  ])('of %s to %s, which is no page, leads into the repository', (file, target, kind, path) => {
    const address = `${REPOSITORY}/${kind}/v${packageVersion()}/${path}`
    expect(sitePage(`[it](${target})`, file)).toBe(`[it](${address})`)
  })

  it.each(['https://example.test/x', '#reset', 'nowhere.md'])('to %s stays', (target) => {
    expect(sitePage(`[it](${target})`, 'docs/install.md')).toBe(`[it](${target})`)
  })

  it('is none in code', () => {
    const text = '`[it](service.md)`\n\n```sh pip\n[it](../LICENSE)\n```\n'
    expect(sitePage(text, 'docs/install.md')).toBe(text.replace('sh pip', 'sh'))
  })
})

it('the site has the front page once, and every file of docs', () => {
  const places = [...siteFiles().values()]
  expect(new Set(places).size).toBe(places.length)
  expect(places).toEqual(expect.arrayContaining(['index.md', 'settings.md', 'grafana.json']))
})

it('the list of decisions names each by its heading', () => {
  expect(decisionsPage()).toContain(
    '\n- [Every stream is incremental](every-stream-is-incremental.md)\n',
  )
})
