/**
 * Counts requests by address (IPv6: by /64), as the rules in the settings want it. Windows are fixed, and begin with a first request. While the rules
 * are off, logins have a generous limit, which the settings do not show.
 */
import type { BlockList } from 'node:net'
import type { Environment } from 'pannier/types'
import type { Principal } from '../gateway/principal.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { Windows } from '../fleet/windows.ts'
import { networkOf } from '../gateway/shares.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { addressesOf, isWithin } from './check-settings.ts'
import type { Settings } from './settings.ts'
import type { RateLimitRule, SettingsValues } from './settings-values.ts'

/** The rules while the rules of the settings are off: for many people behind one address, not for a machine. Each names a tag. */
const BUILT_IN: readonly (RateLimitRule & { readonly label: `*:${string}` })[] = [
  { label: '*:auth', audience: '', duration: 60, maxRequests: 300 },
]
/** A proxy on this machine that is not trusted yet has the address of all clients. */
const LOOPBACK: readonly string[] = ['127.0.0.0/8', '::1', '::ffff:127.0.0.0/104']

export class RateLimiter {
  readonly #settings: Settings
  readonly #windows: Windows
  /** The settings for which the windows were made. */
  #values: SettingsValues | undefined
  #rules: readonly RateLimitRule[] = []
  #excluded: BlockList = addressesOf([])

  constructor(settings: Settings, environment: Environment, fleet?: Fleet) {
    this.#settings = settings
    this.#windows = new Windows(environment, 'requests', fleet)
  }

  /** Whether no rule can hold for a request of this kind, so that nothing has to be counted. `tags`: the actions on its collection. */
  isUnlimited({ isAdmin }: Principal, tags: readonly string[]): boolean {
    return (
      isAdmin ||
      (!this.#settings.values.rateLimits.enabled && !BUILT_IN.some(({ label }) => tags.includes(label.slice(2))))
    )
  }

  /**
   * Counts a request. The first of the labels that a rule has decides; a rule that ends in `/` is for all paths that begin so. `what`
   * is counted apart from others, and so is each API token.
   *
   * @throws ServiceError TOO_MANY_REQUESTS
   */
  check(principal: Principal, what: string, labels: readonly string[]): void {
    const rule = this.ruleOf(principal, labels)
    if (rule === undefined) return
    const { address = '', apiToken } = principal
    const from = apiToken === undefined ? networkOf(address) : `token ${apiToken.id}`
    const key = `${what} ${rule.label} ${rule.audience} ${from}`
    if (!this.#windows.take(key, rule.maxRequests, rule.duration)) throw new ServiceError('TOO_MANY_REQUESTS', '')
  }

  /** The rule that a request with these labels counts for. Undefined: there is no limit. */
  ruleOf({ account, isAdmin, address = '' }: Principal, labels: readonly string[]): RateLimitRule | undefined {
    const { values } = this.#settings
    if (isAdmin) return undefined
    if (this.#values !== values) {
      this.#values = values
      this.#windows.clear()
      const { enabled, rules, excludedIPs } = values.rateLimits
      this.#rules = enabled ? rules : BUILT_IN
      this.#excluded = addressesOf(enabled ? excludedIPs : [...excludedIPs, ...LOOPBACK])
    }
    if (address === '' || isWithin(this.#excluded, address)) return undefined
    const audience = account === undefined ? '@guest' : '@auth'
    const own = this.#rules.filter((rule) => rule.audience === '' || rule.audience === audience)
    return ruleFor(own, labels)
  }
}

function ruleFor(rules: readonly RateLimitRule[], labels: readonly string[]): RateLimitRule | undefined {
  for (const label of labels) {
    const exact = rules.find((rule) => rule.label === label)
    if (exact !== undefined) return exact
    const wide = rules.find((rule) => rule.label.endsWith('/') && `${label}/`.startsWith(rule.label))
    if (wide !== undefined) return wide
  }
  return undefined
}
