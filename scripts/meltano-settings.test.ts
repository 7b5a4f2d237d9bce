import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { destinationSpec } from '../src/destination/destination-spec.ts'
import { readProjectJson } from '../src/ground/project-files.ts'
import { TAP_CAPABILITIES, TARGET_CAPABILITIES } from '../src/protocol/singer/singer-program.ts'
import { outputFolder } from './demo/paths.ts'
import { meltanoSettings, type Specification, withSettings } from './meltano-settings.ts'

const spec = readProjectJson('#spec') as Specification
const document = readFileSync('meltano.yml', 'utf8')

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
  ])(
    'has the settings of %s as its specification gives them (npm run docs makes them)',
    (plugin, given) => {
      expect(withSettings(document, plugin, given)).toBe(document)
    },
  )

  it('names the capabilities that the programs tell of themselves', () => {
    const { extractors, loaders } = parse(document).plugins
    expect(extractors[0].capabilities.toSorted()).toEqual([...TAP_CAPABILITIES].toSorted())
    expect(loaders[0].capabilities.toSorted()).toEqual([...TARGET_CAPABILITIES].toSorted())
  })

  it('has loaders that write to a folder of their own, which the demo does not touch', () => {
    const paths = parse(document).plugins.loaders.flatMap(({ settings }: Settings) =>
      settings.map(({ value }) => String(value)).filter((value) => value.includes('/')),
    )
    expect(paths).toEqual([
      '$MELTANO_PROJECT_ROOT/meltano-output/jsonl',
      '$MELTANO_PROJECT_ROOT/meltano-output/warehouse.duckdb',
    ])
    expect(basename(outputFolder)).toBe('demo-output')
    // target-duckdb makes no folder.
    expect(existsSync('meltano-output/.gitkeep')).toBe(true)
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

  it('are choices where the specification has an enumeration', () => {
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
