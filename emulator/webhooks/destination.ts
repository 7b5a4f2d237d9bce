/** Where a delivery is sent: an address on this machine, and the host that its header names. */
export interface Address {
  readonly url: URL
  readonly host: string
}

/** Why a text is no destination of a webhook, or undefined. */
export function destinationFault(text: string): string | undefined {
  const url = read(text)
  if (!url) return 'is no absolute URL'
  return url.protocol === 'https:' || isLoopback(url) ? undefined : 'is not https'
}

/**
 * The address that stands for a destination: its own on loopback, otherwise `deliverTo` in place of
 * its origin. Undefined without one: nothing is ever sent beyond loopback.
 */
export function addressOf(destination: string, deliverTo: string | undefined): Address | undefined {
  const wanted = new URL(destination)
  if (isLoopback(wanted)) return { url: wanted, host: wanted.host }
  if (!isLoopbackOrigin(deliverTo)) return undefined
  return { url: new URL(wanted.pathname + wanted.search, deliverTo), host: wanted.host }
}

/** Whether a value is the address of a server on this machine, such as `http://127.0.0.1:8080`. */
export function isLoopbackOrigin(value: unknown): boolean {
  const url = typeof value === 'string' ? read(value) : undefined
  return url !== undefined && isLoopback(url)
}

function read(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}

function isLoopback({ hostname }: URL): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname)
}
