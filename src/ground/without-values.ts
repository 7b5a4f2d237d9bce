import { folded } from './folded-text.ts'

/**
 * A text with `****` in place of values that may name people, as they are or encoded, in whatever case and Unicode
 * form; they are only replaced where they stand as words.
 */
export function withoutValues(text: string, values: readonly string[]): string {
  const forms = values
    .filter((value) => value.trim() !== '')
    .flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD'), folded(value)])
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
  return [...new Set(forms)]
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, form) => left.replace(alone(form), '****'), text)
}

function alone(text: string): RegExp {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'giu')
}
