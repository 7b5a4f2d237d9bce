import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../src/config/config.ts'
import { destinationSpec } from '../src/destination/destination-connector.ts'
import { readProjectJson } from '../src/ground/project-files.ts'
import { TAP_CAPABILITIES, TARGET_CAPABILITIES } from '../src/protocol/singer/singer-program.ts'
import { streams } from '../src/streams/streams.ts'
import { outputFolder } from './demo/warehouse.ts'
import {
  hubDefinition,
  hubFile,
  type ListedSpecification,
  type MetadataFacts,
  meltanoSettings,
  type Specification,
  withFacts,
  withSettings,
} from './listings.ts'
import { publishedImages, releasesOf } from './release.ts'

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

  it('is generated from the specification and the program (npm run docs)', () => {
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

const destination = destinationSpec() as ReturnType<typeof destinationSpec> & MetadataFacts['spec']
const [newest] = releasesOf(readFileSync('CHANGELOG.md', 'utf8'))

it('the icon of the hub is a small PNG as large as icon.svg, by the name that both definitions say', () => {
  const named = (
    [
      ['tap-protime', spec],
      ['target-protime', destinationSpec()],
    ] as const
  ).map(([plugin, given]) => basename(parse(hubDefinition(plugin, given, name)).logo_url))
  expect(named).toEqual(['protime.png', 'protime.png'])
  const png = readFileSync('meltano-hub/protime.png')
  const size = [png.readUInt32BE(16), png.readUInt32BE(20)]
  expect([png.toString('latin1', 0, 8), png.toString('latin1', 12, 16)]).toEqual([
    '\u0089PNG\r\n\u001a\n',
    'IHDR',
  ])
  expect(readFileSync('icon.svg', 'utf8')).toContain(`width="${size[0]}" height="${size[1]}"`)
  expect(png.length).toBeLessThan(10_000)
})

describe.each([
  ['metadata.yaml', spec],
  ['metadata-destination.yaml', destination],
])('%s', (file, given) => {
  const document = readFileSync(file, 'utf8')
  const { data } = parse(document)
  const facts = { version, license, released: String(newest?.date), spec: given }

  it('has the facts of package.json, CHANGELOG.md and the specification (npm run docs writes them)', () => {
    expect(withFacts(document, facts)).toBe(document)
  })

  it('follows a new version, and loses none of its comments', () => {
    const made = withFacts(document, { ...facts, version: '9.9.9', released: '2099-01-02' })
    expect(made).toBe(
      document
        .replace(`dockerImageTag: ${version}`, 'dockerImageTag: 9.9.9')
        .replace(`releaseDate: "${newest?.date}"`, 'releaseDate: "2099-01-02"'),
    )
  })

  it('cannot lose a fact unnoticed', () => {
    expect(() => withFacts('data: {}', facts)).toThrow('metadata.yaml has lost data.name')
  })

  it('names an image that is published', () => {
    const workflow = readFileSync('.github/workflows/release.yml', 'utf8')
    const names = publishedImages(workflow, version).map(({ name: image }) => image)
    expect(names).toContain(`${data.dockerRepository}:${version}`)
  })

  it('suggests streams that are offered', () => {
    const suggested: string[] = data.suggestedStreams?.streams ?? []
    expect(suggested.filter((stream) => !streams.has(stream))).toEqual([])
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

  it('names an icon and documents that exist', () => {
    expect(readFileSync(data.icon, 'utf8')).toContain('<svg xmlns="http://www.w3.org/2000/svg"')
    const [, path = ''] = data.documentationUrl.split('/blob/main/')
    expect(existsSync(path)).toBe(true)
  })
})

const meltano = readFileSync('meltano.yml', 'utf8')

interface Settings {
  readonly settings: readonly Record<string, unknown>[]
  readonly settings_group_validation: readonly string[][]
}

type Properties = NonNullable<Specification['connectionSpecification']['properties']>

function settingsOf(properties: Properties, required: string[] = []): Settings {
  return parse(meltanoSettings({ connectionSpecification: { properties, required } }))
}

describe('meltano.yml', () => {
  it.each([
    ['tap-protime', spec],
    ['target-protime', destinationSpec()],
  ])('has the settings of %s from its specification (npm run docs)', (plugin, given) => {
    expect(withSettings(meltano, plugin, given)).toBe(meltano)
  })

  it('names the capabilities that the programs report', () => {
    const { extractors, loaders } = parse(meltano).plugins
    expect(extractors[0].capabilities.toSorted()).toEqual([...TAP_CAPABILITIES].toSorted())
    expect(loaders[0].capabilities.toSorted()).toEqual([...TARGET_CAPABILITIES].toSorted())
  })

  it('has loaders that write to places of their own, which the demo does not touch and git ignores', () => {
    const paths = parse(meltano).plugins.loaders.flatMap(({ settings }: Settings) =>
      settings.map(({ value }) => String(value)).filter((value) => value.includes('/')),
    )
    expect(paths).toEqual([
      '$MELTANO_PROJECT_ROOT/meltano-output',
      '$MELTANO_PROJECT_ROOT/warehouse.duckdb',
    ])
    expect(basename(outputFolder)).toBe('demo-output')
    expect(readFileSync('.gitignore', 'utf8')).toMatch(/^meltano-output\/\nwarehouse\.duckdb$/m)
  })
})

describe('the settings of a plugin', () => {
  it('mark secrets as sensitive', () => {
    const { settings } = settingsOf({ key: { type: 'string', airbyte_secret: true } })
    expect(settings).toEqual([{ name: 'key', kind: 'string', sensitive: true }])
  })

  it('keep types, texts and defaults, the falsy ones too', () => {
    const { settings } = settingsOf({
      count: { type: 'integer', title: 'Count', description: 'So: many', default: 0 },
      minutes: { type: 'number' },
      day: { type: 'string', format: 'date' },
    })
    expect(settings).toEqual([
      { name: 'count', kind: 'integer', label: 'Count', description: 'So: many', value: 0 },
      { name: 'minutes', kind: 'integer' },
      { name: 'day', kind: 'date_iso8601' },
    ])
  })

  it('are choices if the specification has an enumeration', () => {
    const { settings } = settingsOf({
      mode: { type: 'string', title: 'Mode', enum: ['keep', 'leave_out'], default: 'keep' },
    })
    expect(settings).toEqual([
      {
        name: 'mode',
        kind: 'options',
        label: 'Mode',
        options: [
          { label: 'Keep', value: 'keep' },
          { label: 'Leave out', value: 'leave_out' },
        ],
        value: 'keep',
      },
    ])
  })

  it('give alternatives dotted names, a choice, and no default that only some of them have', () => {
    const option = (value: string, fallback: string) => ({
      title: value.toUpperCase(),
      required: ['type'],
      properties: {
        type: { const: value, description: `${value}.` },
        api: { type: 'string', default: fallback },
        path: { type: 'string', default: '/' },
      },
    })
    const where = { oneOf: [option('near', 'a'), option('far', 'b')] }
    expect(settingsOf({ where }, ['where'])).toEqual({
      settings_group_validation: [['where.type']],
      settings: [
        {
          name: 'where.type',
          kind: 'options',
          description: 'near. far.',
          options: [
            { label: 'NEAR', value: 'near' },
            { label: 'FAR', value: 'far' },
          ],
        },
        { name: 'where.api', kind: 'string' },
        { name: 'where.path', kind: 'string', value: '/' },
      ],
    })
  })

  it('cannot go into a document without the marks', () => {
    expect(() => withSettings('plugins: []', 'tap-protime', spec)).toThrow('marks')
  })
})
