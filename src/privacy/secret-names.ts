/**
 * Parts of field names that indicate a secret, in the languages of the service's tenants. They are compared with the
 * name in lower case and without separators, and are long enough not to occur in other words.
 */
const PARTS = [
  ...['pincode', 'codepin', 'badgenumber', 'badgecode', 'badgenummer', 'cardnumber', 'creditcard'],
  ...['bankaccount', 'accountnumber', 'iban', 'bankrekening', 'rekeningnummer', 'comptebancaire'],
  ...['kontonummer', 'socialsecurity', 'securitynumber', 'nationalnumber', 'nationalregister'],
  ...['rijksregister', 'registrenational', 'burgerservice', 'sozialversicherung', 'steuerid'],
  ...['password', 'passwort', 'wachtwoord', 'motdepasse', 'passcode', 'passphrase', 'credential'],
  ...['clientsecret', 'accesstoken', 'apikey', 'privatekey'],
]

/**
 * Words that indicate a secret only if they are whole words: `shippingDate` and `className` contain some of these
 * letters, too.
 */
const WORDS = [
  ...['pin', 'puk', 'otp', 'badge', 'ssn', 'bsn', 'niss', 'insz', 'inss', 'nrn', 'nino', 'svnr'],
  ...['cvc', 'cvv', 'pwd', 'passwd', 'secret', 'token'],
]

/** Identifies the version of these lists: connectors with equal lists leave out the same fields. */
export const SECRET_NAMES: readonly string[] = [...PARTS, ...WORDS]

/**
 * Whether the name of a field says that its value lets others act or pay in a person's name, whatever the schemas
 * say. Case, blanks, punctuation and digits do not matter: `pinCode`, `PIN_CODE`, `Pin-code 2`.
 */
export function namesSecret(name: string): boolean {
  const words = name
    .normalize('NFKC')
    .replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
  const together = words.join('')
  return (
    WORDS.includes(together) ||
    words.some((word) => WORDS.includes(word)) ||
    PARTS.some((part) => together.includes(part))
  )
}
