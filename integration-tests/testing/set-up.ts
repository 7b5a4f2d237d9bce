import dns, { type LookupAddress } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net, { isIP } from 'node:net'
import fc from 'fast-check'
import { afterEach, expect } from 'vitest'

// What holds for every test: its random inputs have a seed, and it asks for nothing beyond this machine.

/** The seed of the gate, so that a red test is about the change under test. */
const SEED = 2

// fast-check draws arrays and texts of at most some ten elements, whatever their `maxLength` says, unless told to.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true })

/** Each property is tried with the same inputs each time, or with new ones (`PROPERTY_SEED=random`). */
const { PROPERTY_SEED = String(SEED) } = process.env
if (PROPERTY_SEED !== 'random')
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED) })

const LIST = Symbol.for('asked for beyond this machine')

/**
 * What tests of this process have asked for beyond this machine; a name is asked of others before anything is sent.
 * One list for all files of the process, which may load this one again.
 */
const left = listOf(globalThis as { [LIST]?: string[] })

/** Names that no resolver has to be asked for. */
const OWN_NAMES = /^(localhost|.*\.localhost)\.?$/i
/** RFC 6761: they have no address anywhere; nobody is asked, and a test may say what then happens. */
const NO_NAMES = /\.invalid\.?$/i

type Callback = (error: Error | null, address?: string | LookupAddress[], family?: number) => void

const { lookup } = dns

/** `dns.lookup` for this machine alone: it answers as if no other name had an address. */
function lookupHere(name: string, options: unknown, callback?: Callback): void {
  const answer = callback ?? (options as Callback)
  if (isIP(name) !== 0 || OWN_NAMES.test(name))
    return void lookup(name, (callback ? options : {}) as dns.LookupOptions, answer as never)
  if (!NO_NAMES.test(name)) left.push(name)
  const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
  process.nextTick(answer, error)
}

const { connect } = net.Socket.prototype

/** The addresses of a host of this machine, also the one of all its networks. */
function isHere(host: string): boolean {
  return isIP(host) === 0 || /^(127\.|0\.0\.0\.0$|::1$|::$|::ffff:(127\.|7f))/i.test(host)
}

function connectHere(this: net.Socket, ...words: unknown[]): net.Socket {
  // As Node itself passes it on: a list of the options and the listener.
  const [first] = words.flat(1) as unknown[]
  const host = typeof first === 'object' && first !== null ? Object(first).host : words[1]
  if (typeof host !== 'string' || isHere(host)) return Reflect.apply(connect, this, words)
  left.push(host)
  const error = Object.assign(new Error(`connect ECONNREFUSED ${host}`), { code: 'ECONNREFUSED' })
  process.nextTick(() => this.destroy(error))
  return this
}

// Files share a process: it is guarded once.
if (dns.lookup.name !== lookupHere.name) {
  Object.assign(dns, { lookup: lookupHere })
  Object.assign(net.Socket.prototype, { connect: connectHere })
  syncBuiltinESMExports()
}

function listOf(process: { [LIST]?: string[] }): string[] {
  process[LIST] ??= []
  return process[LIST]
}

/** What was asked for beyond this machine since this was called last. */
export function takeAsked(): readonly string[] {
  return left.splice(0)
}

afterEach(() => {
  expect(takeAsked(), 'asked for beyond this machine').toEqual([])
})
