/** Asks again and again while the server is away: soon at first, then more rarely, and each page at another moment. */
const FIRST_MS = 3000
const WAIT_MS_MAX = 30_000

export class Asking {
  private readonly ask: () => Promise<unknown>
  private isWanted = false
  private asked: Promise<void> | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private waitMs = FIRST_MS

  /** What `ask` throws is no matter: who is asked says what the answer means, by `end`. */
  constructor(ask: () => Promise<unknown>) {
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
    clearTimeout(this.timer)
  }

  /** There is reason to hope. Without an answer it waits as at first. */
  async now(): Promise<void> {
    if (!this.isWanted) return
    this.waitMs = FIRST_MS
    await this.askOnce()
  }

  private wait(): void {
    clearTimeout(this.timer)
    // When a server comes back, its pages do not all ask in the same moment.
    this.timer = setTimeout(() => void this.askOnce(), this.waitMs * (0.5 + Math.random() / 2))
    this.waitMs = Math.min(this.waitMs * 2, WAIT_MS_MAX)
  }

  private askOnce(): Promise<void> {
    clearTimeout(this.timer)
    this.asked ??= this.ask()
      .catch(() => undefined)
      .then(() => {
        this.asked = undefined
        if (this.isWanted) this.wait()
      })
    return this.asked
  }
}
