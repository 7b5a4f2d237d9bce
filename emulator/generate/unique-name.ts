import type { Fields, Store } from '../store/store.ts'
import { nameParts, type Phrase } from './names.ts'
import type { Random } from './random.ts'

/** Where a name is given, and which names are taken there. */
interface NameScope {
  readonly collection: string
  readonly random: Random
  readonly store: Store
}

/** Between a name and what tells it from others: "R&D – Gent". */
const separator = ' – '

/** A name with translations that no other record of its collection has. */
export function newName(scope: NameScope): Fields {
  return localized(unused(scope, partsOf(scope).names), scope.random)
}

/** Another name for the same thing: "R&D" becomes "R&D – Gent". */
export function renamed(scope: NameScope, name: Fields): Fields {
  const { names, qualifiers } = partsOf(scope)
  const [stem = ''] = String(name['default']).split(separator)
  const known = names.find(([english]) => english === stem) ?? [stem]
  const others = qualify([known], qualifiers).filter(([english]) => english !== name['default'])
  return localized(unused(scope, others), scope.random)
}

function partsOf({ collection }: NameScope) {
  const parts = nameParts[collection]
  if (!parts) throw new Error(`The emulator has no names for ${collection}`)
  return parts
}

/** One of the candidates, or, when all are taken, one of them with as many qualifiers as it needs. */
function unused(scope: NameScope, candidates: readonly Phrase[]): Phrase {
  const { collection, store, random } = scope
  const taken = new Set(store.records(collection).map(({ text }) => JSON.parse(text).name?.default))
  const { qualifiers } = partsOf(scope)
  let choices = candidates
  for (;;) {
    const free = choices.filter(([english]) => !taken.has(english))
    if (free.length > 0) return random.pick(free)
    choices = qualify(choices, qualifiers)
  }
}

function qualify(names: readonly Phrase[], qualifiers: readonly Phrase[]): Phrase[] {
  return names.flatMap((name) =>
    qualifiers
      .filter(([english]) => !name[0].endsWith(english))
      .map((qualifier) => joined(name, qualifier)),
  )
}

function joined(name: Phrase, qualifier: Phrase): Phrase {
  const part = (language: number) =>
    `${name[language] ?? name[0]}${separator}${qualifier[language] ?? qualifier[0]}`
  return [part(0), part(1), part(2), part(3)]
}

/** Dutch always, other languages now and then: the service leaves missing ones out. */
function localized([english, dutch = english, french, german]: Phrase, random: Random): Fields {
  const translations: Fields = { nl: dutch }
  if (random.chance(0.7)) translations['fr'] = french ?? english
  if (random.chance(0.3)) translations['nl-BE'] = dutch
  if (random.chance(0.2)) translations['de'] = german ?? english
  return { default: english, translations }
}
