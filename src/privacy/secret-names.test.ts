import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../records/stream-spec.ts'
import { readStreamSchema, streams } from '../streams/streams.ts'
import { privacyClassOf } from './privacy-settings.ts'
import { namesSecret } from './secret-names.ts'

describe('a name of a secret is found in any spelling', () => {
  it.each([
    ...[
      'pinCode',
      'PinCode',
      'pincode',
      'PINCODE',
      'pin_code',
      'Pin-Code',
      'pin code',
      'ｐｉｎＣｏｄｅ',
    ],
    ...['pin', 'PIN', 'terminal_pin', 'terminalPIN', 'PINHash', 'pin2', 'p_i_n', 'oldPinCode2'],
    ...['iban', 'IBAN', 'employeeIban', 'employeeiban', 'bank_account', 'bankAccountNumber'],
    ...['@badge-number', 'badge', 'BADGE_NUMBER', 'social security number', 'SSN', 'person.ssn'],
    ...[
      'rrn',
      'insznr',
      'INSZnummer',
      'nationaalNummer',
      'pins',
      'badges',
      'cardNo',
      'kaartnummer',
    ],
    ...[
      'accessCode',
      'rekeningNr',
      'bankrekeningnummer',
      'bankgegevens',
      'numéro de compte',
      'RIB',
    ],
    ...[
      'numeroNational',
      'registre national',
      'numéroSécuritéSociale',
      'code d’accès',
      'mot-de-passe',
    ],
    ...['Kontonummer', 'Bankverbindung', 'Sozialversicherungsnummer', 'Steuer-ID'],
    ...[
      'geheimcode',
      'code secret',
      'toegangscode',
      'Kartennummer',
      'Ausweisnummer',
      'carteBancaire',
      'burgerservicenummer',
    ],
    ...['natNr', 'RijksRegNr', 'RR-nummer', 'sociaalZekerheidsnummer', 'mutualiteitsnummer'],
    ...['numéro de sécu', 'numInsee', 'NSS', 'matricule national', 'ss_no', 'secuNumber'],
    ...['SteuerNr', 'VersicherungsNr', 'Krankenkassennummer', 'RVNR', 'SIS-kaart'],
    ...['toegangspas', 'pasnummer', 'Zutrittskarte', 'Transpondernummer', 'mifareId', 'nfcUid'],
    ...['tagId', 'keyFob', 'carteAccès', 'priknummer', 'rekening', 'Lohnkonto', 'n° compte'],
    ...['deurcode', 'Türcode', 'Zutrittscode', 'codePorte', 'codeAlarme', 'inlogcode', 'authCode'],
    ...['activationCode', 'verificatiecode', 'recoveryCode', 'sort_code'],
    ...['рin', 'ріnCоdе', 'ΡIN', 'ibаn', 'bаdgeNumbеr', 'piո', 'ᴘɪɴ', 'рinꓚode'],
    ...[
      'nationalIdNumber',
      'SVNummer',
      'versichertennummer',
      'rijksregisternummer',
      'niss',
      'password',
      'clientSecret',
      'access_token',
      'pi\u200bnCode',
    ],
  ])('%s', (name) => {
    expect(namesSecret(name)).toBe(true)
  })
})

describe('a name that only contains its letters is not a secret', () => {
  it.each([
    'shippingDate',
    'className',
    'spinning',
    'secretary',
    'mapping',
    'opinion',
    'tokenize',
    'nationality',
    'nationalHoliday',
    'registerNumber',
    'numberOfCards',
    'postalCode',
    'accountManager',
    'accountCode',
    'cardinality',
    'cartesian',
    'socialFund',
    'kaartlezer',
    'codePostal',
    ...[
      'Feiertag-ID',
      'strukturCode',
      'Zeitkonto',
      'calculationCode',
      'compassNumber',
      'rentenart',
    ],
    ...['passportNumber', 'sector', 'consecutive', 'prikklok', 'carteRepas', 'situationCode'],
    'employeeNumber',
    'κωδικός',
    'straße',
  ])('%s', (name) => {
    expect(namesSecret(name)).toBe(false)
  })
})

function fieldsOf(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    [name, field] as [string, JsonSchema],
    ...fieldsOf(field.items ?? field),
  ])
}

it('agrees with the schemas on all of their fields', () => {
  const fields = [...streams.keys()].flatMap((stream) => fieldsOf(readStreamSchema(stream)))
  const contradictions = fields.filter(
    ([name, field]) => namesSecret(name) !== (privacyClassOf(field) === 'secret'),
  )
  expect(contradictions.map(([name]) => name)).toEqual([])
})
