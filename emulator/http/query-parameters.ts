import { ServiceError } from './service-error.ts'

/**
 * The parameters of a query, percent-decoded once. A plus sign stays a plus sign: tokens contain
 * it. The flag `delta` has the empty text as its value. Malformed escapes are a 400.
 */
export function parseQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decode(at < 0 ? part : part.slice(0, at))
    parameters.set(name, at < 0 ? '' : decode(part.slice(at + 1)))
  }
  return parameters
}

/** Percent-decodes a part of a URL; a malformed escape is a 400. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ServiceError(400, `The request URL cannot be decoded: ${text}`)
  }
}
