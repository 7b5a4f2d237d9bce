import type { Fields } from '../store/store.ts'
import type { Random } from './random.ts'

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
/** First names of women. */
export const womensNames = [
  'Anaïs',
  'Chloë',
  'Émilie',
  'Fatıma',
  'Hélène',
  'Ines',
  'Katarzyna',
  'Maeve',
  'Paul\u2019ine',
  'Ελένη',
  'Şebnem',
  '小美',
]
/** First names of men. */
export const mensNames = [
  'Bram',
  'Dries',
  'Günther',
  'Jos\u00e9',
  'Loïc',
  'Óscar',
  'Søren',
  'Łukasz',
  'Γιώργος',
  'Yiğit',
  'Zoltán',
  '小明',
]
/** First names of both. */
export const anyonesNames = ['Noor', 'Camille', 'Robin']
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

/**
 * The properties, each with the given probability. The service leaves out what has no value; it does
 * not send null.
 */
export function sometimes(random: Random, probability: number, fields: Fields): Fields {
  const kept = Object.entries(fields).filter(() => random.chance(probability))
  return Object.fromEntries(kept)
}
