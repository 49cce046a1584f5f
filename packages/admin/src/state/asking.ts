/** Asks again and again while the server is away: soon at first, then more rarely, and each page at another moment. */
import type { Environment } from '../environment.ts'

const FIRST_MS = 3000
const WAIT_MS_MAX = 30_000

export class Asking {
  private readonly environment: Environment
  private readonly ask: () => Promise<unknown>
  private isWanted = false
  private asked: Promise<void> | undefined
  private cancel: (() => void) | undefined
  private waitMs = FIRST_MS

  /** Makes the loop that asks. Errors of `ask` are ignored: the function itself ends the loop with `end`. */
  constructor(environment: Environment, ask: () => Promise<unknown>) {
    this.environment = environment
    this.ask = ask
  }

  begin(): void {
    if (this.isWanted) return
    this.isWanted = true
    this.waitMs = FIRST_MS
    this.wait()
  }

  end(): void {
    this.isWanted = false
    this.cancel?.()
  }

  /** There is reason to hope. Without an answer it waits as at first. */
  async now(): Promise<void> {
    if (!this.isWanted) return
    this.waitMs = FIRST_MS
    await this.askOnce()
  }

  private wait(): void {
    this.cancel?.()
    // When a server comes back, its pages do not all ask in the same moment.
    const chance = this.environment.randomBytes(1)[0]! / 255
    this.cancel = this.environment.after(this.waitMs * (0.5 + chance / 2), () => void this.askOnce())
    this.waitMs = Math.min(this.waitMs * 2, WAIT_MS_MAX)
  }

  private askOnce(): Promise<void> {
    this.cancel?.()
    this.asked ??= this.ask()
      .catch(() => undefined)
      .then(() => {
        this.asked = undefined
        if (this.isWanted) this.wait()
      })
    return this.asked
  }
}
