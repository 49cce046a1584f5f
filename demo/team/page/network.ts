/** The switch of the window: requests to the server fail as they do without a network. */
export class Network {
  readonly #key: string
  #cut = new AbortController()

  /** `key`: where the browser keeps the position of the switch. */
  constructor(key: string) {
    this.#key = key
    const real = globalThis.fetch.bind(globalThis)
    globalThis.fetch = (input, init) => {
      const { origin } = new URL(input instanceof Request ? input.url : input, location.href)
      if (origin !== location.origin) return real(input, init)
      if (!this.isOnline) return Promise.reject(new TypeError('The window is offline.'))
      const signals = [this.#cut.signal, ...(init?.signal ? [init.signal] : [])]
      return real(input, { ...init, signal: AbortSignal.any(signals) })
    }
  }

  get isOnline(): boolean {
    return localStorage.getItem(this.#key) !== 'offline'
  }

  set isOnline(on: boolean) {
    localStorage.setItem(this.#key, on ? 'online' : 'offline')
    if (on) {
      this.#cut = new AbortController()
      globalThis.dispatchEvent(new Event('online'))
    } else this.#cut.abort()
  }
}
