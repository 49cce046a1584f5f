/**
 * Which addresses the server may connect to when it is asked to replicate (SSRF): public ones, and those that the
 * operator has listed. Pure. The caller must check the very address that it connects to (guarded-fetch.ts).
 */
import ipaddr from 'ipaddr.js'
import { badArgument } from 'pannier/internal'

type Address = ReturnType<typeof ipaddr.process>

interface Rule {
  /** In lower case; undefined for an address. */
  readonly name: string | undefined
  readonly network: readonly [Address, number] | undefined
  readonly port: number | undefined
}

/** All public addresses of IPv6. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3')
const ENTRY = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/

export class AddressRules {
  readonly #rules: readonly Rule[]

  /** `hosts`: names, addresses and ranges, each perhaps with a port: 'couch.lan', '127.0.0.1:5985', '10.0.0.0/8', '[fd00::/8]'. */
  constructor(hosts: readonly string[] = []) {
    this.#rules = hosts.map(ruleOf)
  }

  /** `host` as in the URL, which has resolved to `address`. */
  allows(host: string, port: number, address: string): boolean {
    if (!ipaddr.isValid(address)) return false
    const target = ipaddr.process(address)
    if (isPublic(target)) return true
    return this.#rules.some(
      (rule) =>
        (rule.port === undefined || rule.port === port) &&
        (rule.name === undefined ? contains(rule.network!, target) : rule.name === host.toLowerCase()),
    )
  }
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(PUBLIC_IPV6)
}

function contains([network, bits]: readonly [Address, number], address: Address): boolean {
  return network.kind() === address.kind() && address.match([network, bits] as never)
}

function ruleOf(entry: string): Rule {
  const wrong = badArgument('createServer()', 'replication hosts must be names, addresses or ranges', entry)
  const isBare = ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry)
  const [, bracketed, plain, portText] = isBare ? [entry, entry] : (ENTRY.exec(entry) ?? [])
  const host = bracketed ?? plain
  if (host === undefined) throw wrong
  const port = portText === undefined ? undefined : Number(portText)
  if (ipaddr.isValidCIDR(host)) return { name: undefined, network: ipaddr.parseCIDR(host), port }
  if (ipaddr.isValid(host)) {
    const address = ipaddr.process(host)
    return { name: undefined, network: [address, address.kind() === 'ipv4' ? 32 : 128], port }
  }
  if (bracketed !== undefined || host.includes('/')) throw wrong
  return { name: host.toLowerCase(), network: undefined, port }
}
