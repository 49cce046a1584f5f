/** Lets so many run at a time; others wait for their turn, first come, first served. */
export class Turns {
  readonly #most: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** The function returned gives the turn back. An aborted signal ends the wait: then there is no turn, and none to give back. */
  async enter(signal: AbortSignal): Promise<() => void> {
    while (this.#running >= this.#most && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = (): void => {
          this.#waiting.splice(this.#waiting.indexOf(wake), 1)
          resolve()
        }
        signal.addEventListener('abort', leave, { once: true })
        this.#waiting.push(wake)
      })
    }
    if (signal.aborted) return () => {}
    this.#running++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#running--
      this.#waiting.shift()?.()
    }
  }
}
