import type { Random } from '../random.ts'
import type { Fields } from '../store.ts'

/** Invented names, with the letters and quotes that real ones have. */
export const lastNames = [
  "D'Hondt",
  'Peeters',
  'Åkesson',
  'Van den Bossche',
  'Núñez',
  "O'Neill",
  'Øverland',
  'Müller',
  'Łukasiewicz',
  'Çelik',
  'de la Fuente "Rojas"',
  'Yıldız',
  'Σταυρίδης',
  '王',
  'Dupont-Lefèvre',
]
/** Invented first names. */
export const firstNames = [
  'Anaïs',
  'Bram',
  'Chloë',
  'Dries',
  'Émilie',
  'Fatıma',
  'Günther',
  'Hélène',
  'Ines',
  'Jos\u00e9',
  'Katarzyna',
  'Loïc',
  'Maeve',
  'Noor',
  'Óscar',
  'Paul\u2019ine',
  'Søren',
  '小明',
]
/** Towns with their postal codes. */
export const towns = [
  ['Gent', '9000'],
  ['Liège', '4000'],
  ['Aarschot', '3200'],
  ['Saint-Hubert', '6870'],
  ["'s-Hertogenbosch", '5211 AA'],
] as const
/** Streets without numbers. */
export const streets = [
  'Kerkstraat',
  'Rue de l’Église',
  'Dorpsplein',
  'Chaussée d’Anvers',
  'Lindenlaan',
]

/** A name with translations, some languages left out (api.md 11). */
export function nameOf(random: Random, text: string): Fields {
  const translations: Fields = { nl: `${text} (nl)` }
  if (random.chance(0.7)) translations['fr'] = `${text} — « fr »`
  if (random.chance(0.3)) translations['nl-BE'] = `${text} (nl-BE)`
  if (random.chance(0.2)) translations['de'] = `${text} für "alle"`
  return { default: text, translations }
}

/**
 * The properties, each with the given probability: optional ones are left out, not null (api.md
 * 11).
 */
export function sometimes(random: Random, probability: number, fields: Fields): Fields {
  const kept = Object.entries(fields).filter(() => random.chance(probability))
  return Object.fromEntries(kept)
}
