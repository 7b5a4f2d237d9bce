/** A text without these values, as they are or encoded; they are only replaced where they stand alone. */
export function redact(text: string, values: readonly string[]): string {
  const forms = values
    .filter((value) => value !== '')
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
  return [...new Set(forms)]
    .toSorted((a, b) => b.length - a.length)
    .reduce((redacted, form) => redacted.replace(alone(form), '****'), text)
}

function alone(text: string): RegExp {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'gu')
}
