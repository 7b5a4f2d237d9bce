import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { packageVersion } from '../src/project-files.ts'
import { INSTALL_GUIDE } from './install-guide.ts'
import { publishedImages } from './published-images.ts'

const version = packageVersion()
const images = publishedImages(readFileSync('.github/workflows/release.yml', 'utf8'), version)

it('a release publishes an image to read with and one to write with', () => {
  expect(images.map(({ name, target }) => [name, target])).toEqual([
    [`source-protime/source-protime:${version}`, 'source'],
    [`source-protime/destination-protime:${version}`, 'destination'],
  ])
})

it('both are of the same processors, with bill of materials and provenance', () => {
  const [first, ...others] = images.map(({ settings }) => settings)
  expect(first).toMatchObject({
    platforms: 'linux/amd64,linux/arm64',
    provenance: 'mode=max',
    sbom: true,
    outputs: expect.stringMatching(/push=true/),
  })
  for (const other of others) expect(other).toEqual(first)
})

it('each is a stage of the Dockerfile that starts the program of its name', () => {
  const stages = readFileSync('Dockerfile', 'utf8').split(/^FROM .* AS /m)
  for (const { name, target } of images) {
    const stage = stages.find((text) => text.startsWith(`${target}\n`))
    const [, program] = name.split(/[/:]/)
    expect(stage).toContain(`ENTRYPOINT ["/airbyte/integration_code/bin/${program}"]`)
  }
})

it('each is named by the guide for installing, to use and to build', () => {
  const guide = readFileSync(INSTALL_GUIDE, 'utf8')
  for (const { name } of images) {
    expect(guide).toContain(`\`${name.split(':')[0]}`)
    expect(guide).toContain(`--tag ${name} .`)
  }
})
