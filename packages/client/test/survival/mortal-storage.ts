/**
 * The storage of a device. It outlives the processes that use it, and `kill` ends all of them at once, before or after a call: nothing
 * that they have asked is answered any more. So a process may end between any two commits. With the power goes what was written since the
 * last kill, or the last part of it.
 */
import type { DatabaseStorage } from 'pannier'
import type { Random } from '../../../db/testing/random.ts'
import { SimulatedStorage } from '../../../db/testing/simulated-page-store.ts'

type PageStore = Awaited<ReturnType<DatabaseStorage['open']>>

/** The processes until the next kill. */
interface Life {
  readonly number: number
  isOver: boolean
  /** Calls until it ends by itself; undefined: it does not. */
  callsLeft: number | undefined
  end(): void
}

export class MortalStorage implements DatabaseStorage {
  readonly kind = 'mortal'
  readonly scope = 'process'
  readonly #disk: SimulatedStorage
  readonly #random: Random
  #life: Life
  /** Resolves when the processes are gone. */
  gone: Promise<void>
  #lives = 0
  /** The share of what is not durable that a loss of power leaves. */
  #kept = 1

  constructor(random: Random) {
    this.#random = random
    this.#disk = new SimulatedStorage({ random: () => this.#kept })
    ;[this.#life, this.gone] = this.#begin()
  }

  get isGone(): boolean {
    return this.#life.isOver
  }

  /** The processes end at a call: 0 is the next one. */
  killAt(call: number): void {
    this.#life.callsLeft = call
  }

  /** They do not end by themselves any more. */
  spare(): void {
    this.#life.callsLeft = undefined
  }

  /** The processes end now. What is there then is durable. */
  kill({ power = false }: { readonly power?: boolean } = {}): void {
    this.#life.end()
    this.#kept = power ? this.#random.next() : 1
    this.#disk.losePower()
  }

  /** New processes may use it. */
  revive(): void {
    ;[this.#life, this.gone] = this.#begin()
  }

  /** Processes of another life share the data only. */
  identify(name: string): string {
    return `${this.#disk.identify(name)}:${this.#life.number}`
  }

  has(name: string): Promise<boolean> {
    return this.#life.isOver ? new Promise(() => {}) : this.#disk.has(name)
  }

  async open(name: string): Promise<PageStore> {
    const life = this.#life
    const store = await this.#disk.open(name)
    return new Proxy(store, {
      get: (target, property) => {
        const method = Reflect.get(target, property) as ((...given: unknown[]) => unknown) | undefined
        if (typeof method !== 'function') return method
        return (...given: unknown[]) => this.#call(life, () => method.apply(target, given))
      },
    })
  }

  destroy(name: string): Promise<void> {
    return this.#life.isOver ? new Promise(() => {}) : this.#disk.destroy(name)
  }

  #call(life: Life, call: () => unknown): unknown {
    if (life.isOver) return new Promise(() => {})
    if (life.callsLeft === undefined || life.callsLeft-- > 0) return call()
    if (this.#random.chance(0.5)) call()
    life.end()
    return new Promise(() => {})
  }

  #begin(): [Life, Promise<void>] {
    const { promise, resolve } = Promise.withResolvers<void>()
    const life: Life = {
      number: this.#lives++,
      isOver: false,
      callsLeft: undefined,
      end: () => {
        life.isOver = true
        resolve()
      },
    }
    return [life, promise]
  }
}
