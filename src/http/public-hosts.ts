import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { ConnectorError } from '../ground/errors.ts'
import { NotConnected } from './network-error.ts'

/** Networks that are not part of the public internet (IANA's registries of special-purpose addresses). */
const SPECIAL_NETWORKS = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Within Azure: the machine's own agent and metadata.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // In IPv6, only 2000::/3 is public, and not all of it.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]

const special = listsOf(SPECIAL_NETWORKS)
const loopback = listsOf(['127.0.0.0/8', '::1/128'])

/** One list per family: in a shared list, an IPv6 network would match every IPv4 address as a mapped one. */
function listsOf(networks: readonly string[]) {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = familyOf(address)
    lists[family].addSubnet(address, Number(bits), family)
  }
  return lists
}

/**
 * Matches IPv6 addresses whose last 4 bytes are an IPv4 address: mapped ones, and those behind a translator (NAT64).
 */
const EMBEDDING = /^(?:::ffff:|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})$/

/** Whether an IP address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !isIn(special, address)
}

/** Whether an IP address belongs to a private network: it is neither public nor loopback. */
export function isPrivateAddress(address: string): boolean {
  return isIn(special, address) && !isIn(loopback, address)
}

function isIn(lists: typeof special, address: string): boolean {
  const plain = isIP(address) === 6 ? normal(address) : address
  const family = familyOf(plain)
  return lists[family].check(plain, family)
}

/** Normalizes an IPv6 address to its shortest form without a zone, or to the IPv4 address that it contains. */
function normal(address: string): string {
  const [withoutZone] = address.split('%')
  const shortest = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1)
  const [, high, low] = EMBEDDING.exec(shortest) ?? []
  if (high === undefined || low === undefined) return shortest
  const halves = [high, low].map((half) => Number.parseInt(half, 16))
  return halves.flatMap((half) => [half >> 8, half & 255]).join('.')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** The hosts to which requests may be sent. */
export interface HostRules {
  /** Allows only public hosts, and only https. */
  readonly isPublicOnly?: boolean
  /** By default that of the system. */
  readonly lookup?: typeof systemLookup
  /** Whether an address belongs to a private network; by default `isPrivateAddress`. */
  readonly isPrivate?: (address: string) => boolean
}

/** Throws for a URL that is not https, or whose host is an IP address that is not public. */
export function assertPublicUrl(url: string): void {
  const { protocol, hostname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol !== 'https:') throw notPublic(host, 'is not an https address')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host, 'is not public')
}

/**
 * Creates a lookup like `dns.lookup` that fails if an address of the host is not public. A socket connects to the
 * returned address without another lookup, so that the host cannot change in between.
 */
export function createPublicLookup(lookup: typeof systemLookup = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...(options as LookupOptions), all: true }, (error, found) => {
      const addresses: LookupAddress[] = found ?? []
      const [first] = addresses
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`no address of ${hostname}`), '')
      } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
        callback(notPublic(hostname, 'has an address that is not public'), '')
      } else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** The public address of a host name, for a proxy that would otherwise look up the name itself. */
export function publicAddressOf(hostname: string, lookup: LookupFunction): Promise<string> {
  if (isIP(hostname) !== 0) return Promise.resolve(hostname)
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: false }, (error, address) => {
      if (error !== null) reject(error)
      else resolve(typeof address === 'string' ? address : (address[0]?.address ?? ''))
    })
  })
}

function notPublic(host: string, why: string): ConnectorError {
  return new NotConnected(
    'config',
    'host-not-public',
    `${host} ${why}, and this deployment may only connect to public hosts, by https (DEPLOYMENT_MODE=cloud or PROTIME_PUBLIC_ONLY). Check the tenant and the addresses in the configuration.`,
  )
}
