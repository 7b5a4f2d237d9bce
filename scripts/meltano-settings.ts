/** spec.json as far as Meltano's settings are made from it. */
export interface Specification {
  readonly connectionSpecification: Setting
}

interface Setting {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly format?: string
  readonly const?: unknown
  readonly default?: unknown
  readonly airbyte_secret?: boolean
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Setting>>
  readonly oneOf?: readonly Setting[]
}

/** One setting of a plugin, in the words of Meltano's plugin definition. */
export interface PluginSetting {
  readonly name: string
  readonly kind: string
  readonly label: string | undefined
  readonly description: string | undefined
  readonly sensitive?: true
  readonly value?: unknown
  readonly options?: readonly { readonly label: string; readonly value: unknown }[]
}

const START = '    # generated from spec.json by `npm run docs`\n'
const END = '    # end of the generated part\n'

/** meltano.yml with the settings of the tap as the specification has them now. */
export function withSettings(document: string, spec: Specification): string {
  const start = document.indexOf(START)
  const end = document.indexOf(END)
  if (start < 0 || end < start) throw new Error('meltano.yml has lost the marks of its settings')
  return `${document.slice(0, start + START.length)}${meltanoSettings(spec)}${document.slice(end)}`
}

/**
 * The settings of the tap as YAML for meltano.yml: nested ones have dotted names, as Meltano needs
 * them, and a default only where all alternatives share it.
 */
export function meltanoSettings(spec: Specification): string {
  return [
    `    settings_group_validation: ${JSON.stringify(settingsGroups(spec))}`,
    '    settings:',
    ...pluginSettings(spec).flatMap(yamlOf),
    '',
  ].join('\n')
}

/** The settings of the tap, each as Meltano knows it. */
export function pluginSettings({ connectionSpecification }: Specification): PluginSetting[] {
  return settingsOf(connectionSpecification, '')
}

/** The settings that a tap must have: a list of one group. */
export function settingsGroups({ connectionSpecification }: Specification): string[][] {
  return [requiredNames(connectionSpecification)]
}

function settingsOf({ properties = {} }: Setting, prefix: string): PluginSetting[] {
  return Object.entries(properties).flatMap(([name, setting]) =>
    setting.oneOf === undefined
      ? [plain(`${prefix}${name}`, setting)]
      : alternatives(`${prefix}${name}.`, setting.oneOf),
  )
}

function plain(name: string, setting: Setting): PluginSetting {
  return {
    name,
    kind: kindOf(setting),
    label: setting.title,
    description: setting.description,
    ...(setting.airbyte_secret ? { sensitive: true } : {}),
    ...(setting.default === undefined ? {} : { value: setting.default }),
  }
}

/** Members of the alternatives, each once; the one that tells them apart is a choice. */
function alternatives(prefix: string, options: readonly Setting[]): PluginSetting[] {
  const members = options.flatMap((option) => Object.entries(option.properties ?? {}))
  return [...new Set(members.map(([name]) => name))].map((name) => {
    const variants = members.filter(([other]) => other === name).map(([, setting]) => setting)
    const [first = {}] = variants
    if (first.const !== undefined) return choice(`${prefix}${name}`, options, name)
    const { default: fallback, ...rest } = variants.at(-1) ?? first
    const isShared = variants.every((variant) => variant.default === fallback)
    return plain(
      `${prefix}${name}`,
      isShared && fallback !== undefined ? { ...rest, default: fallback } : rest,
    )
  })
}

function choice(name: string, options: readonly Setting[], member: string): PluginSetting {
  const descriptions = options.map((option) => option.properties?.[member]?.description ?? '')
  return {
    name,
    kind: 'options',
    label: options[0]?.properties?.[member]?.title,
    description: descriptions.join(' '),
    options: options.map(({ title = '', properties }) => ({
      label: title,
      value: properties?.[member]?.const,
    })),
  }
}

function kindOf({ type, format }: Setting): string {
  if (format === 'date') return 'date_iso8601'
  // Meltano 4 cannot write its own `decimal` into a tap's configuration; fractions in YAML pass.
  return type === 'number' ? 'integer' : (type ?? 'string')
}

function requiredNames({ required = [], properties = {} }: Setting): string[] {
  return required.flatMap((name) => {
    const [first] = properties[name]?.oneOf ?? []
    return first === undefined
      ? [name]
      : (first.required ?? []).map((member) => `${name}.${member}`)
  })
}

/** JSON is YAML, so values need no other quoting. */
function yamlOf(setting: PluginSetting): string[] {
  const lines = Object.entries(setting)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        `${key}: ${key === 'name' || key === 'kind' ? value : JSON.stringify(value)}`,
    )
  return lines.map((line, i) => `    ${i === 0 ? '- ' : '  '}${line}`)
}
