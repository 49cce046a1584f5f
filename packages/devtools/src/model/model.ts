/** The base of what the panels show: a model that changes, and listeners that render it again. */
import { tellListener } from 'pannier/internal'
import type { Environment } from 'pannier/types'

export abstract class Model {
  /** The last failure, for a person; undefined: all is well. */
  error: string | undefined
  readonly #listeners = new Set<() => void>()

  /** Calls back after each change. The function returned ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  protected changed(): void {
    for (const listener of this.#listeners) tellListener(listener)
  }

  /** Runs work whose failure is shown. Undefined: it failed. */
  protected async attempt<T>(work: () => PromiseLike<T>): Promise<T | undefined> {
    try {
      const result = await work()
      this.error = undefined
      return result
    } catch (error) {
      this.error = messageOf(error)
      return undefined
    } finally {
      this.changed()
    }
  }
}

/** The message of an error, with its code. */
export function messageOf(error: unknown): string {
  const { code, message = String(error) } = (error ?? {}) as { readonly code?: unknown; readonly message?: string }
  return typeof code === 'string' ? `${code}: ${message}` : message
}

/** Work that runs at most once in a while, and once more after the last call. Runs never overlap. */
export class Throttled {
  readonly #environment: Environment
  readonly #ms: number
  readonly #work: () => Promise<unknown>
  #cancel: (() => void) | undefined
  #isRunning = false
  #isAsked = false
  #isStopped = false

  constructor(environment: Environment, ms: number, work: () => Promise<unknown>) {
    this.#environment = environment
    this.#ms = ms
    this.#work = work
  }

  ask(): void {
    this.#isAsked = true
    if (this.#isRunning || this.#cancel !== undefined || this.#isStopped) return
    this.#cancel = this.#environment.after(this.#ms, () => void this.#run())
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  async #run(): Promise<void> {
    this.#cancel = undefined
    this.#isAsked = false
    this.#isRunning = true
    await this.#work().catch(() => {})
    this.#isRunning = false
    if (this.#isAsked) this.ask()
  }
}

/** The newest entries, at most `max`. */
export function bounded<T>(entries: readonly T[], entry: T, max: number): readonly T[] {
  return [...entries.slice(Math.max(0, entries.length - max + 1)), entry]
}
