/** Words that mean a number, in the languages of the service's tenants. */
const NUMBER = '(?:number|nummer|numero|nbr|num|nr)'

/**
 * Parts of field names that indicate a secret, in English, Dutch, French and German. They are compared with the name
 * in lower case and without separators and accents, and are long enough not to occur in other words.
 */
const SECRET_PARTS = [
  // Codes that open doors and accounts.
  ...[
    `pin(?:code|${NUMBER})`,
    'codepin',
    'code(?:secret|confidentiel)',
    'geheim(?:code|nummer|zahl)',
  ],
  ...['(?:access|door|alarm|unlock|security|toegangs|veiligheids|beveiligings|deur|sleutel)code'],
  ...['(?:login|inlog|aanmeld|auth|recovery|backup|deblokkeer|prik)code'],
  ...['(?:activat|verificat|authenticat)(?:ion|ie)code'],
  ...[
    '(?:zugangs|zugriffs|zutritts|sicherheits)code',
    'code(?:d|de)?(?:acces|securite|alarme|(?:la)?porte)',
    'persoonlijkecode',
  ],
  ...['password', 'pass?woord', 'passwort', 'kennwort', 'wachtwoord', 'motdepasse', 'passcode'],
  ...['passphrase', 'credential', 'clientsecret', '(?:access|refresh)token', 'onetimecode'],
  ...['(?:api|private|secret|access)key', 'biometr', 'finger(?:print|abdruck|template)'],
  ...['vingerafdruk', 'empreintedigitale'],
  // Badges and cards.
  ...[
    'badge',
    `(?:cards?|kaart|cartes?|karten?|ausweis|chip)(?:${NUMBER}|code|serial|uid|hash)`,
    'rfid',
    `(?:prik|sis)(?:kaart|${NUMBER})`,
  ],
  ...['mifare', 'transponder', 'keyfob', 'toegangspas', 'zutrittskarte', 'carte(?:d)?acces'],
  ...['(?:credit|debit|bank|krediet|debet)(?:card|kaart)', '(?:kredit|bank)karte'],
  ...['carte(?:bancaire|bleue|de(?:credit|banque))'],
  // Bank accounts.
  ...['iban', 'bank(?:account|rekening|konto|verbindung|gegevens|details|data|daten)'],
  ...['(?:loon|salaris)rekening', '(?:lohn|gehalts|giro)konto', 'sortcode'],
  ...[`(?:account|acct|rekening|konto)${NUMBER}`, 'kontonummer', 'routingnumber', 'bankleitzahl'],
  ...['compte(?:en|de)?(?:banque|bancaire)', '(?:coordonnees|donnees|references)bancaires'],
  ...['(?:numero|num|nr|no)(?:de|du|dela)?(?:compte|carte|konto|rekening|kaart|account|card)'],
  // National numbers, which identify a person to every authority.
  ...['soci(?:al|ale|aal)(?:security|insurance|zekerheid)', 'securitynumber', 'securitesociale'],
  ...[
    'sozialversicherung',
    `versicher(?:ungs|ten)${NUMBER}`,
    'nationalinsurance',
    'insurancenumber',
  ],
  ...[`nationa(?:l|le|al)(?:s|es|er)?(?:register|${NUMBER}|id(?:enti|${NUMBER}|$))`, 'rijksreg'],
  ...['regist(?:er|re)national', '(?:numero|num|nr|no|id|identifiant)(?:de)?(?:registre)?national'],
  ...['burgerservice', `sofi${NUMBER}`, `steuer(?:id|${NUMBER})`, `tax(?:payer)?(?:id|${NUMBER})`],
  ...[`(?:kranken|renten|mutualiteits)(?:kassen|versicherungs)?${NUMBER}`, 'matriculenational'],
  ...['(?:numero|num|nr)(?:de)?(?:secu|insee)', `secu${NUMBER}`],
  ...[`fiscaal${NUMBER}`, 'numerofiscal', 'identifiantfiscal', `(?:ahv|avs)${NUMBER}`],
  ...[`(?:insz|niss|inss|bsn|ssn|rrn|nrn)${NUMBER}`],
]

/**
 * Words that indicate a secret only if they are whole words, also in the plural: `shippingDate` and `className`
 * contain some of these letters, too.
 */
const SECRET_WORDS = [
  ...['pin', 'puk', 'otp', 'totp', 'cvc', 'cvv', 'pwd', 'passwd', 'mdp', 'rib', 'blz', 'bban'],
  ...['ssn', 'bsn', 'niss', 'insz', 'inss', 'nrn', 'rrn', 'nino', 'nir', 'svn', 'svnr', 'svnummer'],
  ...['ahv', 'avs', 'sofi', 'secret', 'token', 'geheim', 'nss', 'ssno', 'natnr', 'natnummer'],
  ...['rrnr', 'rrnummer', 'rvnr', 'kvnr', 'insee', 'nfc', 'pasnr', 'pasnummer', 'tagid'],
  ...['rekening', 'reknr', 'ncompte', 'turcode', 'tuercode'],
]

/** Short words for a number, at the end of a name that says of what. */
const SECRET_ENDS = [
  `(?:pin|card|kaart|karte|carte|konto|rekening|account|acct|compte|national|nationaal)no`,
  `(?:card|kaart|karte|carte|konto|rekening|acct)id`,
]

/** Identifies the version of these lists: connectors with equal lists leave out the same fields. */
export const SECRET_NAMES: readonly string[] = [...SECRET_PARTS, ...SECRET_WORDS, ...SECRET_ENDS]

const PARTS = new RegExp(`${SECRET_PARTS.join('|')}|(?:${SECRET_ENDS.join('|')})s?$`)
const WORDS: ReadonlySet<string> = new Set(SECRET_WORDS.flatMap((word) => [word, `${word}s`]))

/** Letters that look like a Latin one, of which no decomposition knows, after that one. */
const ALIKE =
  'aаαɑᴀ bвβʙΒ cсϲᴄ dԁɗđᴅ eеεєᴇΕ fƒ gɡɢց hһнʜΗ iіιıɪΙӏ jјϳᴊ kкκᴋΚ lłʟⅼ ' +
  'mмᴍΜ nпηɴոΝ oоοօøᴏσ pрρᴘ qԛ rгʀ sѕꜱ tтτᴛΤ uυսᴜ vνѵᴠ wωԝᴡ xхχΧ yуүʏγΥ ' +
  'zᴢΖ'
const LOOKALIKES = new Map(
  ALIKE.split(' ').flatMap(([latin = '', ...others]) =>
    others.map((other) => [other, latin] as const),
  ),
)

/** What was found of names: a service sends the same ones in each record. */
const judged = new Map<string, boolean>()
const MOST_JUDGED = 10_000
const LONGEST_JUDGED = 100

/**
 * Whether the name of a field says that its value lets others act or pay in a person's name, whatever the schemas
 * say. Case, accents, blanks, punctuation, digits and letters that only look like Latin ones do not matter:
 * `pinCode`, `PIN_CODE`, `Pin-code 2`.
 */
export function namesSecret(name: string): boolean {
  if (name.length > LONGEST_JUDGED) return judge(name)
  const withoutDigits = name.replace(/[0-9]+/g, '0')
  const before = judged.get(withoutDigits)
  if (before !== undefined) return before
  if (judged.size === MOST_JUDGED) judged.clear()
  const isSecret = judge(withoutDigits)
  judged.set(withoutDigits, isSecret)
  return isSecret
}

function judge(name: string): boolean {
  const isAscii = /^[\0-\x7f]*$/.test(name)
  const letters = isAscii ? name : name.normalize('NFKD').replace(/\p{M}/gu, '')
  const parts = letters.replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
  const words = wordsOf(isAscii ? parts : parts.replace(/[^\0-\x7f]/gu, latin))
  const together = words.join('')
  return (
    WORDS.has(together) ||
    PARTS.test(together) ||
    words.some((word) => WORDS.has(word)) ||
    (!isAscii && wordsOf(parts).some(isMixed))
  )
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[^\p{L}]+/u)
}

function latin(letter: string): string {
  return LOOKALIKES.get(letter) ?? LOOKALIKES.get(letter.toLowerCase()) ?? letter
}

/** Whether a word has letters of two alphabets: somebody writes it so that it is not recognized. */
function isMixed(word: string): boolean {
  return /\p{Script=Latin}/u.test(word) && /\P{Script=Latin}/u.test(word)
}
