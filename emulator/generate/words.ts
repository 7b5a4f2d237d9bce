import type { Fields, Store } from '../store/store.ts'
import type { Random } from './random.ts'

/** A text in English, Dutch, French and German. A single text is a proper name, which is the same in all languages. */
type Phrase = readonly [english: string, dutch?: string, french?: string, german?: string]

/** The names of the entries of a collection, and the qualifiers that distinguish two entries with the same name. */
interface NameParts {
  readonly names: readonly Phrase[]
  readonly qualifiers: readonly Phrase[]
}

const sites: readonly Phrase[] = [
  ['Gent', 'Gent', 'Gand', 'Gent'],
  ['Liège', 'Luik', 'Liège', 'Lüttich'],
  ['Aarschot'],
  ["'s-Hertogenbosch", "'s-Hertogenbosch", 'Bois-le-Duc', 'Herzogenbusch'],
  ['Saint-Hubert'],
  ['İzmir'],
  ['Łódź', 'Łódź', 'Łódź', 'Lodz'],
  ['Αθήνα', 'Athene', 'Athènes', 'Athen'],
]
const groups: readonly Phrase[] = [
  ['blue collar', 'arbeiders', 'ouvriers', 'Arbeiter'],
  ['white collar', 'bedienden', 'employés', 'Angestellte'],
  ['students', 'studenten', 'étudiants', 'Studenten'],
  ['management', 'kader', 'cadres', 'Leitung'],
  ['temporary staff', 'uitzendkrachten', 'intérimaires', 'Leiharbeiter'],
  ['part-time', 'deeltijds', 'temps partiel', 'Teilzeit'],
]
const grades: readonly Phrase[] = [
  ['trainee', 'in opleiding', 'stagiaire', 'in Ausbildung'],
  ['junior'],
  ['senior'],
  ['team lead', 'teamleider', 'chef d’équipe', 'Teamleitung'],
  ['night team', 'nachtploeg', 'équipe de nuit', 'Nachtschicht'],
  ['reserve', 'reserve', 'réserve', 'Reserve'],
]
const branches: readonly Phrase[] = [
  ['Holding'],
  ['Services'],
  ['Logistics'],
  ['International'],
  ['Vastgoed & Immo'],
]

/** The names of every collection of reference data. */
const nameParts: Readonly<Record<string, NameParts>> = {
  departments: {
    qualifiers: sites,
    names: [
      ['Production', 'Productie', 'Production', 'Produktion'],
      ['Sales & Service', 'Verkoop & service', 'Ventes & service', 'Vertrieb & Service'],
      ['R&D', 'O&O', 'R&D', 'F&E'],
      ['Logistik', 'Logistiek', 'Logistique', 'Logistik'],
      ['Maintenance', 'Onderhoud', 'Entretien', 'Instandhaltung'],
      ['Quality “Zero Defects”', 'Kwaliteit', 'Qualité « zéro défaut »', 'Qualität „null Fehler“'],
      ['Finance', 'Financiën', 'Comptabilité', 'Finanzen'],
      ['People & Culture', 'Personeel', 'Ressources humaines', 'Personal'],
      ['Purchasing', 'Aankoop', 'Achats', 'Einkauf'],
      ['IT', 'ICT', 'Informatique', 'IT'],
    ],
  },
  employers: {
    qualifiers: branches,
    names: [
      ['Bakkerij "De Korenaar"'],
      ['Søndergård & Fils'],
      ['Acme <Benelux>'],
      ["L'Étoile du Nord"],
      ['Ψωμί & Αλάτι'],
      ['Yıldız Gıda'],
      ['東方食品'],
    ],
  },
  jobs: {
    qualifiers: grades,
    names: [
      ['Welder', 'Lasser', 'Soudeur', 'Schweißer'],
      ['Baker', 'Bakker', 'Boulanger', 'Bäcker'],
      ['Clerk', 'Bediende', 'Employé de bureau', 'Sachbearbeiter'],
      ['Ingénieur', 'Ingenieur', 'Ingénieur', 'Ingenieur'],
      ['Forklift driver', 'Heftruckchauffeur', 'Cariste', 'Staplerfahrer'],
      ['Planner', 'Planner', 'Planificateur', 'Disponent'],
      ['Accountant', 'Boekhouder', 'Comptable', 'Buchhalter'],
      ['Electrician', 'Elektricien', 'Électricien', 'Elektriker'],
      ['Packer', 'Inpakker', 'Emballeur', 'Packer'],
    ],
  },
  'job-categories': {
    qualifiers: grades,
    names: [
      ...groups.map(capitalized),
      ['Apprentices', 'Leerlingen', 'Apprentis', 'Lehrlinge'],
      ['Self-employed', 'Zelfstandigen', 'Indépendants', 'Selbständige'],
    ],
  },
  sectors: {
    qualifiers: sites,
    names: [
      ['Food', 'Voeding', 'Alimentation', 'Lebensmittel'],
      ['Metal', 'Metaal', 'Métal', 'Metall'],
      ['Services', 'Diensten', 'Services', 'Dienstleistungen'],
      ['Transport', 'Transport', 'Transport', 'Verkehr'],
      ['Textile', 'Textiel', 'Textile', 'Textil'],
      ['Retail', 'Kleinhandel', 'Commerce de détail', 'Einzelhandel'],
      ['Care', 'Zorg', 'Soins de santé', 'Pflege'],
      ['Construction', 'Bouw', 'Construction', 'Bau'],
    ],
  },
  'work-locations': {
    qualifiers: sites,
    names: [
      ['Head office', 'Hoofdkantoor', 'Siège', 'Zentrale'],
      ['Plant North', 'Fabriek Noord', 'Usine Nord', 'Werk Nord'],
      ['Plant South', 'Fabriek Zuid', 'Usine Sud', 'Werk Süd'],
      ['Warehouse', 'Magazijn', 'Entrepôt', 'Lager'],
      ['Depot “Dok Noord”'],
      ['Shop', 'Winkel', 'Magasin', 'Laden'],
      ['Laboratory', 'Labo', 'Laboratoire', 'Labor'],
      ['At home', 'Thuis', 'À domicile', 'Zu Hause'],
    ],
  },
  'shift-definitions': {
    qualifiers: sites,
    names: [
      ['Day shift', 'Dagdienst', 'Équipe de jour', 'Tagschicht'],
      ['Early shift', 'Vroege dienst', 'Équipe du matin', 'Frühschicht'],
      ['Late shift', 'Late dienst', "Équipe de l'après-midi", 'Spätschicht'],
      ['Night shift', 'Nachtdienst', 'Équipe de nuit', 'Nachtschicht'],
      ['Flexible hours', 'Glijtijd', 'Horaire variable', 'Gleitzeit'],
      ['Weekend shift', 'Weekenddienst', 'Équipe du week-end', 'Wochenendschicht'],
      ['Half day', 'Halve dag', 'Demi-jour', 'Halber Tag'],
      ['On call', 'Wachtdienst', 'De garde', 'Bereitschaft'],
    ],
  },
  'absence-groups': {
    qualifiers: groups,
    names: [
      ['Leave', 'Verlof', 'Congés', 'Urlaub'],
      ['Medical', 'Medisch', 'Médical', 'Medizinisch'],
      ['Working elsewhere', 'Elders werken', 'Travail ailleurs', 'Arbeit außer Haus'],
      ['Social leave', 'Sociaal verlof', 'Congé social', 'Sonderurlaub'],
    ],
  },
  'absence-definitions': {
    qualifiers: groups,
    names: [
      ['Holiday', 'Vakantie', 'Vacances', 'Urlaub'],
      ['Illness', 'Ziekte', 'Maladie', 'Krankheit'],
      ['Training', 'Opleiding', 'Formation', 'Weiterbildung'],
      ['Working at home', 'Thuiswerk', 'Télétravail', 'Heimarbeit'],
      ['Recovery of overtime', 'Inhaalrust', "Récupération d'heures", 'Überstundenabbau'],
      ['Parental leave', 'Ouderschapsverlof', 'Congé parental', 'Elternzeit'],
      ['Time credit', 'Tijdskrediet', 'Crédit-temps', 'Zeitkredit'],
      ['Unpaid leave', 'Onbetaald verlof', 'Congé sans solde', 'Unbezahlter Urlaub'],
      ['“Small” leave', 'Klein verlet', 'Petit chômage', 'Sonderurlaub „kurz“'],
    ],
  },
  'break-definitions': {
    qualifiers: sites,
    names: [
      ['Lunch', 'Middagpauze', 'Pause de midi', 'Mittagspause'],
      ['Coffee break', 'Koffiepauze', 'Pause-café', 'Kaffeepause'],
      ['Rest', 'Rustpauze', 'Repos', 'Ruhepause'],
      ['Supper', 'Avondpauze', 'Pause du soir', 'Abendpause'],
      ['Night break', 'Nachtpauze', 'Pause de nuit', 'Nachtpause'],
      ['Smoking break', 'Rookpauze', 'Pause cigarette', 'Raucherpause'],
      ['Prayer', 'Gebed', 'Prière', 'Gebet'],
    ],
  },
  'counter-groups': {
    qualifiers: groups,
    names: [
      ['Premiums', 'Premies', 'Primes', 'Zuschläge'],
      ['Balances', 'Saldi', 'Soldes', 'Salden'],
      ['Allowances', 'Vergoedingen', 'Indemnités', 'Zulagen'],
      ['Statistics', 'Statistieken', 'Statistiques', 'Statistiken'],
    ],
  },
  'counter-definitions': {
    qualifiers: groups,
    names: [
      ['Overtime', 'Overuren', 'Heures supplémentaires', 'Überstunden'],
      ['Night hours', 'Nachturen', 'Heures de nuit', 'Nachtstunden'],
      ['Meal voucher', 'Maaltijdcheque', 'Chèque-repas', 'Essensgutschein'],
      ['Sunday work', 'Zondagwerk', 'Travail du dimanche', 'Sonntagsarbeit'],
      ['Shift premium', 'Ploegenpremie', "Prime d'équipe", 'Schichtzulage'],
      ['On-call hours', 'Wachturen', 'Heures de garde', 'Bereitschaftsstunden'],
      ['Bicycle allowance', 'Fietsvergoeding', 'Indemnité vélo', 'Fahrradgeld'],
      ['Cold-store premium', 'Koudepremie', 'Prime de froid', 'Kältezulage'],
    ],
  },
  'activity-definitions': {
    qualifiers: sites,
    names: [
      ['Project Ørsted'],
      ['Project “Σίσυφος”'],
      ['Bread line', 'Broodlijn', 'Ligne pain', 'Brotlinie'],
      ['Pastry line', 'Banketlijn', 'Ligne pâtisserie', 'Feingebäcklinie'],
      ['Cleaning', 'Schoonmaak', 'Nettoyage', 'Reinigung'],
      ['Changeover', 'Ombouw', 'Changement de série', 'Umrüsten'],
      ['Loading', 'Laden', 'Chargement', 'Verladen'],
      ['Repairs', 'Herstellingen', 'Réparations', 'Reparaturen'],
      ['Stocktaking', 'Inventaris', 'Inventaire', 'Inventur'],
      ['Meetings', 'Vergaderingen', 'Réunions', 'Besprechungen'],
      ['Internal training', 'Interne opleiding', 'Formation interne', 'Schulung'],
      ['Order picking', 'Orderpicking', 'Préparation de commandes', 'Kommissionierung'],
      ['Quality control', 'Kwaliteitscontrole', 'Contrôle qualité', 'Qualitätskontrolle'],
      ['Prototype 試作'],
      ['Safety walk', 'Veiligheidsronde', 'Ronde de sécurité', 'Sicherheitsrundgang'],
      ['Travel', 'Verplaatsing', 'Déplacement', 'Fahrt'],
      ['Customer visits', 'Klantenbezoek', 'Visites de clients', 'Kundenbesuche'],
      ['Administration', 'Administratie', 'Administration', 'Verwaltung'],
    ],
  },
}

function capitalized([english, dutch, french, german]: Phrase): Phrase {
  const upper = (text = english) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
  return [upper(english), upper(dutch), upper(french), upper(german)]
}

/** The collection in which a name is given, and what is needed to find a name that is not taken. */
interface NameScope {
  readonly collection: string
  readonly random: Random
  readonly store: Store
}

/** Separates a name from its qualifier: "R&D – Gent". */
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

/** One of the candidates. If all are taken, one of them with as many qualifiers as are needed to make it unique. */
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

/** Translations: always Dutch, sometimes other languages. The service leaves missing ones out. */
function localized([english, dutch = english, french, german]: Phrase, random: Random): Fields {
  const translations: Fields = { nl: dutch }
  if (random.chance(0.7)) translations['fr'] = french ?? english
  if (random.chance(0.3)) translations['nl-BE'] = dutch
  if (random.chance(0.2)) translations['de'] = german ?? english
  return { default: english, translations }
}

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
