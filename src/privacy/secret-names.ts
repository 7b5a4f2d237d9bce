/**
 * What the name of a field says of a secret when it is written together in small letters, in the languages of the
 * service's tenants. Long enough to be part of no other word.
 */
const PARTS = [
  ...['pincode', 'codepin', 'badgenumber', 'badgecode', 'badgenummer', 'cardnumber', 'creditcard'],
  ...['bankaccount', 'accountnumber', 'iban', 'bankrekening', 'rekeningnummer', 'comptebancaire'],
  ...['kontonummer', 'socialsecurity', 'securitynumber', 'nationalnumber', 'nationalregister'],
  ...['rijksregister', 'registrenational', 'burgerservice', 'sozialversicherung', 'steuerid'],
  ...['password', 'passwort', 'wachtwoord', 'motdepasse', 'passcode', 'passphrase', 'credential'],
  ...['clientsecret', 'accesstoken', 'apikey', 'privatekey'],
]

/** The same as a word of its own; in others these letters mean nothing: `shippingDate`, `className`. */
const WORDS = [
  ...['pin', 'puk', 'otp', 'badge', 'ssn', 'bsn', 'niss', 'insz', 'inss', 'nrn', 'nino', 'svnr'],
  ...['cvc', 'cvv', 'pwd', 'passwd', 'secret', 'token'],
]

/** Names that stand for these lists: two versions of the connector with equal ones leave out the same. */
export const SECRET_NAMES: readonly string[] = [...PARTS, ...WORDS]

/**
 * Whether a field of this name lets somebody act or pay in another's name, whatever the schemas say of it: capitals,
 * blanks and punctuation do not count (`pinCode`, `PIN_CODE`, `Pin-code 2`).
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
