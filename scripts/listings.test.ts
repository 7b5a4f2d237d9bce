import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../src/config/config.ts'
import { destinationSpec } from '../src/destination/destination-spec.ts'
import { readProjectJson } from '../src/ground/project-files.ts'
import { streams } from '../src/streams/streams.ts'
import {
  hubDefinition,
  hubFile,
  type ListedSpecification,
  type MetadataFacts,
  withFacts,
} from './listings.ts'

const spec = readProjectJson('#spec') as ListedSpecification & MetadataFacts['spec']
const { name, version, license } = readProjectJson('#package') as {
  name: string
  version: string
  license: string
}

describe.each([
  ['tap-protime', spec],
  ['target-protime', destinationSpec()],
] as const)('the definition of %s for the hub of Meltano', (plugin, given) => {
  const definition = hubDefinition(plugin, given, name)

  it('is what the specification and the program give (npm run docs makes it)', () => {
    expect(readFileSync(hubFile(plugin), 'utf8')).toBe(definition)
  })

  it('has its keys in order at every level, as the linter of the hub asks', () => {
    const unordered: string[] = []
    JSON.parse(JSON.stringify(parse(definition)), (at, value: unknown) => {
      const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
      const keys = isMap ? Object.keys(value) : []
      if (keys.join() !== keys.toSorted().join()) unordered.push(at)
      return value
    })
    expect(unordered).toEqual([])
  })
})

describe('metadata.yaml', () => {
  const document = readFileSync('metadata.yaml', 'utf8')
  const { data } = parse(document)

  it('has the facts of package.json and spec.json (npm run docs writes them)', () => {
    expect(withFacts(document, { version, license, spec })).toBe(document)
  })

  it('follows a new version, and loses none of its comments', () => {
    const made = withFacts(document, { version: '9.9.9', license, spec })
    expect(made).toBe(document.replace(`dockerImageTag: ${version}`, 'dockerImageTag: 9.9.9'))
  })

  it('cannot lose a fact unnoticed', () => {
    const facts = { version, license, spec }
    expect(() => withFacts('data: {}', facts)).toThrow('metadata.yaml has lost data.name')
  })

  it('suggests streams that are offered', () => {
    const offered = new Set(streams.keys())
    expect(data.suggestedStreams.streams.filter((stream: string) => !offered.has(stream))).toEqual(
      [],
    )
  })

  it.each([
    { type: 'production' },
    { type: 'sandbox' },
    { type: 'custom', environment_url: 'time.example' },
    { type: 'custom', base_url: 'https://one.example', auth_url: 'https://two.example' },
  ])('allows the hosts that the connector asks: %j', (environment) => {
    const input = { tenant: 'acme', environment, client_id: 'id', client_secret: 'secret' }
    const { baseUrl, authUrl } = parseConfig(input)
    const values: Record<string, string> = { tenant: 'acme' }
    for (const [key, value] of Object.entries(environment)) values[`environment.${key}`] = value
    const allowed = data.allowedHosts.hosts.map((host: string) =>
      host
        .replace(/\$\{([^}]+)\}/g, (_all, key: string) => values[key] ?? '')
        .replace('https://', ''),
    )
    expect(allowed).toContain(new URL(baseUrl).host)
    expect(allowed).toContain(new URL(authUrl).host)
  })

  it('names an icon that is there, and documents that are', () => {
    expect(readFileSync(data.icon, 'utf8')).toContain('<svg xmlns="http://www.w3.org/2000/svg"')
    const [, path = ''] = data.documentationUrl.split('/blob/main/')
    expect(existsSync(path)).toBe(true)
  })
})
