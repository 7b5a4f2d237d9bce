/** Replaces secrets by their value in texts that leave the process. */
export interface Mask {
  /** Takes a value that must not appear in any text from now on; short ones are ignored. */
  add(secret: string): void
  /** The text with every secret, as is or in an encoded form, replaced by `****`. */
  text(text: string): string
}

/** Below this length a value would also hide innocent words. */
const SHORTEST = 4

/** OAuth's own names of values that give access. */
const OAUTH_PARAMETERS = ['access_token', 'client_secret']

/**
 * A mask that also hides the values of these parameters of URLs and members of JSON, whatever they
 * are. Their names are plain words; OAuth's `access_token` and `client_secret` are always hidden.
 */
export function createMask(parameters: readonly string[] = []): Mask {
  const forms = new Set<string>()
  const names = [...OAUTH_PARAMETERS, ...parameters].join('|')
  const parameter = new RegExp(`\\b(${names})(=|%3D|"\\s*:\\s*")[^&\\s"'<>]+`, 'gi')
  return { add, text }

  function add(secret: string): void {
    if (secret.length < SHORTEST) return
    const lines = secret.split(/[\r\n]+/)
    for (const value of [secret, ...lines].filter(({ length }) => length >= SHORTEST)) {
      forms.add(value)
      forms.add(JSON.stringify(value).slice(1, -1))
      const encoded = encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'))
      forms.add(encoded)
      forms.add(encoded.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()))
      forms.add(new URLSearchParams([['', value]]).toString().slice(1))
    }
  }

  function text(text: string): string {
    let masked = text
    // Longest first: a secret may contain another one.
    for (const form of [...forms].sort((a, b) => b.length - a.length)) {
      masked = masked.replaceAll(form, '****')
    }
    return masked.replace(parameter, '$1$2****')
  }
}
