/** A metric without its values. */
export interface MetricHead {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
}

/** The labels of a value, or their text as `labelText` writes it. */
export type MetricLabels = Readonly<Record<string, string>> | string

/** A metric in the text format of Prometheus, with its help; it may have no values. */
export function metricText(
  { name, type, help }: MetricHead,
  samples: readonly (readonly [labels: MetricLabels, value: number])[],
): string {
  const lines = samples.map(([labels, value]) => {
    const text = typeof labels === 'string' ? labels : labelText(labels)
    return `${name}${text === '' ? '' : `{${text}}`} ${value}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** Labels as they are written between the braces. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(',')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
