/** Shorter ones are found in any text. */
const SHORTEST = 8

/** Whether a text holds the client secret of a configuration: as it is, or escaped for JSON or a URL. */
export function tellsSecret(text: string, config: unknown): boolean {
  const { client_secret: secret } = (config ?? {}) as { client_secret?: unknown }
  if (typeof secret !== 'string' || secret.length < SHORTEST) return false
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  return forms.some((form) => text.includes(form))
}
