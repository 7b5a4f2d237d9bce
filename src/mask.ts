/** Replaces secrets by their value in texts that leave the process; logs go to third parties. */
export interface Mask {
  /** Takes a value that must not appear in any text from now on; short ones are ignored. */
  add(secret: string): void
  /** The text with every secret, as is or in an encoded form, replaced by `****`. */
  text(text: string): string
}

/** Below this length a value would also hide innocent words. */
const SHORTEST = 4

/** Query parameters and members whose values are secrets, or tokens of the service. */
const TOKEN_PARAMETER =
  /\b(deltaToken|continuationToken|access_token|client_secret)(=|%3D|"\s*:\s*")[^&\s"'<>]+/gi

export function createMask(): Mask {
  const forms = new Set<string>()
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
    return masked.replace(TOKEN_PARAMETER, '$1$2****')
  }
}
