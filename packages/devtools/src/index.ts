/** Devtools for an app on Pannier, loaded when they are opened. */
import type { DevtoolsSources } from './model/source.ts'

export type { AnyClient, AnyDatabase, DevtoolsSources } from './model/source.ts'

/** Options of `offerDevtools`. */
export interface OfferOptions {
  /** The letter that opens and closes them, with Alt and Shift; 'D' by default. Null: no key does. */
  readonly key?: string | null
  /** The look; by default that of the system. */
  readonly theme?: 'light' | 'dark'
}

/** Devtools that wait to be opened. */
export interface OfferedDevtools {
  /** Loads them, and shows them at the lower edge of the page. */
  open(): Promise<void>
  /** Takes them out of the page. They can be opened again. */
  close(): void
  /** Opens them if they are closed, and closes them if they are open. */
  toggle(): Promise<void>
  /** Offers them no longer. */
  end(): void
}

/** The event of the browser extension. */
const ASKED = 'pannier-devtools'

/**
 * Offers devtools: Alt+Shift+D opens and closes them, and so does the button of the browser extension. Nothing is loaded before. Without a
 * page, as on a server, it does nothing.
 *
 * @example
 * const devtools = offerDevtools({ databases: [db], clients: [client], replications: [sync] })
 * await devtools.open()
 */
export function offerDevtools(sources: DevtoolsSources, options: OfferOptions = {}): OfferedDevtools {
  const { key = 'D', theme } = options
  const ending = new AbortController()
  let element: HTMLElement | undefined
  let opening: Promise<void> | undefined
  const close = (): void => {
    element?.remove()
    element = undefined
  }
  const load = async (): Promise<void> => {
    const { PannierDevtools } = await import('./element.ts')
    if (ending.signal.aborted) return
    const made = new PannierDevtools()
    made.sources = sources
    if (theme !== undefined) made.setAttribute('theme', theme)
    made.addEventListener('close', () => (element = undefined))
    document.body.append(made)
    element = made
  }
  const open = async (): Promise<void> => {
    if (typeof document === 'undefined' || element?.isConnected === true || ending.signal.aborted) return
    opening ??= load().finally(() => (opening = undefined))
    await opening
  }
  const toggle = async (): Promise<void> => (element?.isConnected === true ? close() : open())
  const { signal } = ending
  if (typeof document !== 'undefined') {
    const onKey = (event: KeyboardEvent): void => {
      const isAsked = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey
      if (key === null || !isAsked || event.code !== `Key${key.toUpperCase()}`) return
      event.preventDefault()
      void toggle().catch(() => {})
    }
    addEventListener('keydown', onKey, { capture: true, signal })
    const onAsked = (event: Event): void => {
      // So the extension knows that somebody has heard it.
      event.preventDefault()
      void toggle().catch(() => {})
    }
    document.addEventListener(ASKED, onAsked, { signal })
  }
  const end = (): void => {
    ending.abort()
    close()
  }
  return { open, close, toggle, end }
}
