import type { Environment } from 'pannier/types'

/** Calls back when nothing has come for a while. */
export class Silence {
  readonly #environment: Environment
  readonly #msMax: number
  readonly #tell: () => void
  #sinceMs = 0
  #cancel: () => void = () => {}

  /** Makes a watch of the silence that is off until `begin`. */
  constructor(environment: Environment, msMax: number, tell: () => void) {
    this.#environment = environment
    this.#msMax = msMax
    this.#tell = tell
  }

  begin(): void {
    this.#sinceMs = this.#environment.now()
    this.#wait(this.#msMax)
  }

  /** The silence was broken: something has come. */
  broken(): void {
    this.#sinceMs = this.#environment.now()
  }

  /** Ends it: nobody waits any more. */
  end(): void {
    this.#cancel()
  }

  #wait(ms: number): void {
    this.#cancel = this.#environment.after(ms, () => {
      const remainingMs = this.#sinceMs + this.#msMax - this.#environment.now()
      if (remainingMs > 0) this.#wait(remainingMs)
      else this.#tell()
    })
  }
}
