/** The encodings that the service offers, the best first. */
const offered = ['br', 'gzip'] as const

/** An encoding that a response can have. */
export type Encoding = (typeof offered)[number]

/**
 * The encoding that a client prefers by its header `Accept-Encoding` (RFC 9110, 12.5.3), or undefined
 * when it accepts none of them.
 */
export function preferredEncoding(header: string): Encoding | undefined {
  const weights = new Map(header.split(',').map(weightOf))
  const weight = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0
  const [best] = offered.toSorted((a, b) => weight(b) - weight(a))
  return best && weight(best) > 0 ? best : undefined
}

function weightOf(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [name, weight === undefined ? 1 : Number(weight)]
}
