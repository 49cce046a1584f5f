/** Counts requests by address, as the rules in the settings want it. Windows are fixed, and begin with a first request. */
import type { BlockList } from 'node:net'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { addressesOf, isWithin } from './check-settings.ts'
import type { Settings } from './settings.ts'
import type { RateLimitRule, SettingsValues } from './settings-values.ts'

const WINDOWS_MAX = 20_000

interface Window {
  /** Requests that it still allows. */
  left: number
  readonly untilMs: number
}

export class RateLimiter {
  readonly #settings: Settings
  readonly #now: () => number
  readonly #windows = new Map<string, Window>()
  /** What the windows were made for. */
  #values: SettingsValues | undefined
  #excluded: BlockList = addressesOf([])

  constructor(settings: Settings, now: () => number) {
    this.#settings = settings
    this.#now = now
  }

  /**
   * Counts a request. The first of the labels that a rule has decides; a rule that ends in `/` is for all paths that begin so. `what`
   * is counted apart from others.
   *
   * @throws ServiceError TOO_MANY_REQUESTS
   */
  check({ account, isAdmin, address = '' }: Principal, what: string, labels: readonly string[]): void {
    const { values } = this.#settings
    const { enabled, rules, excludedIPs } = values.rateLimits
    if (!enabled || isAdmin) return
    if (this.#values !== values) {
      this.#values = values
      this.#windows.clear()
      this.#excluded = addressesOf(excludedIPs)
    }
    if (address === '' || isWithin(this.#excluded, address)) return
    const audience = account === undefined ? '@guest' : '@auth'
    const own = rules.filter((rule) => rule.audience === '' || rule.audience === audience)
    const rule = ruleFor(own, labels)
    if (rule === undefined) return
    const window = this.#window(`${what} ${rule.label} ${rule.audience} ${address}`, rule)
    if (window.left === 0) throw new ServiceError('TOO_MANY_REQUESTS', '')
    window.left--
  }

  #window(key: string, { maxRequests, duration }: RateLimitRule): Window {
    const now = this.#now()
    const known = this.#windows.get(key)
    if (known !== undefined && now < known.untilMs) return known
    // The oldest are first.
    this.#windows.delete(key)
    if (this.#windows.size >= WINDOWS_MAX) this.#windows.delete(this.#windows.keys().next().value!)
    const window = { left: maxRequests, untilMs: now + duration * 1000 }
    this.#windows.set(key, window)
    return window
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
