/** Ids of one-time passwords that nobody has, remembered so that they behave as others do. */
import { LruMap } from 'pannier/internal'
import type { AuthDefinition } from '../definitions/definition.ts'

interface Decoy {
  readonly collection: string
  readonly address: string
  readonly untilMs: number
}

const DECOYS_MAX = 20_000

export class DecoyPasswords {
  readonly #now: () => number
  readonly #openMax: number
  /** By id. */
  readonly #decoys = new LruMap<string, Decoy>(DECOYS_MAX, (decoy, id) => this.#forget(id, decoy))
  /** Ids by collection and address. */
  readonly #byAddress = new Map<string, string[]>()

  /** An address has some more than `openMax` at most. */
  constructor(openMax: number, now: () => number) {
    this.#openMax = openMax
    this.#now = now
  }

  add({ id: collection, otp }: AuthDefinition, address: string, id: string): void {
    this.#decoys.set(id, { collection, address, untilMs: this.#now() + otp.duration * 1000 })
    const ids = this.#idsOf(collection, address)
    ids.push(id)
    this.#byAddress.set(keyOf(collection, address), ids)
    if (ids.length > 2 * this.#openMax) this.#decoys.delete(ids[0]!)
  }

  /** Ids of an address's decoys that would still be valid if they were an account's, the newest one last. */
  openOf({ id: collection }: AuthDefinition, address: string): readonly string[] {
    return this.#idsOf(collection, address).filter((id) => this.#decoys.get(id)!.untilMs > this.#now())
  }

  /** Undefined if it is not of this collection, or would have expired. */
  addressOf({ id: collection }: AuthDefinition, id: string): string | undefined {
    const decoy = this.#decoys.get(id)
    return decoy?.collection === collection && decoy.untilMs > this.#now() ? decoy.address : undefined
  }

  #idsOf(collection: string, address: string): string[] {
    return this.#byAddress.get(keyOf(collection, address)) ?? []
  }

  #forget(id: string, { collection, address }: Decoy): void {
    const key = keyOf(collection, address)
    const left = this.#idsOf(collection, address).filter((one) => one !== id)
    if (left.length > 0) this.#byAddress.set(key, left)
    else this.#byAddress.delete(key)
  }
}

function keyOf(collection: string, address: string): string {
  return `${collection} ${address}`
}
