/**
 * Names that Apple sends with the first redirect only, until the login that belongs to it asks for them. The code of the login is
 * what both have.
 */
import { isObject, LruMap } from 'pannier/internal'

const KEPT_MS_MAX = 60_000
/** How many names are kept: redirects come from anywhere. */
const NAMES_MAX = 1000
const CODE_BYTES_MAX = 985
const NAME_CHARS_MAX = 150

export class AppleNames {
  readonly #now: () => number
  readonly #names = new LruMap<string, { readonly name: string; readonly endMs: number }>(NAMES_MAX)

  constructor(now: () => number) {
    this.#now = now
  }

  /** `user`: `{ "name": { "firstName", "lastName" } }`. What is no such thing is ignored. */
  keep(code: string, user: string): void {
    if (Buffer.byteLength(code) > CODE_BYTES_MAX) return
    const name = nameIn(user)
    if (name === '') return
    this.#names.set(code, { name, endMs: this.#now() + KEPT_MS_MAX })
  }

  /** Empty if no name is kept. The name is forgotten. */
  take(code: string): string {
    const kept = this.#names.get(code)
    this.#names.delete(code)
    return kept !== undefined && this.#now() < kept.endMs ? kept.name : ''
  }
}

function nameIn(user: string): string {
  let value: unknown
  try {
    value = JSON.parse(user)
  } catch {
    return ''
  }
  const name = isObject(value) ? value['name'] : undefined
  if (!isObject(name)) return ''
  const parts = [name['firstName'], name['lastName']].map((part) => (typeof part === 'string' ? part : ''))
  return parts.join(' ').slice(0, NAME_CHARS_MAX).trim()
}
