/** `<pannier-devtools>`: the devtools as an element. Importing this file defines it. */
import { render } from 'lit-html'
import { systemEnvironment } from 'pannier/internal'
import { DevtoolsModel, PANELS, type Panel } from './model/devtools.ts'
import type { DevtoolsSources } from './model/source.ts'
import { dockView, type Dock } from './view/dock.ts'
import { STYLE } from './view/style.ts'

export type { DevtoolsSources } from './model/source.ts'

const NAME = 'pannier-devtools'
const KEPT = 'pannier-devtools'
const HEIGHT = 340
const HEIGHT_MIN = 160
/** Commits may come a thousand times a second. It renders at most this often, so that the app has the thread. */
const RENDER_MS_MIN = 80

/** A server that renders pages has no elements. It may load this file, and makes none. */
const HTMLElement: typeof globalThis.HTMLElement = globalThis.HTMLElement ?? class {}

/** The state that is kept for the next time. */
interface Kept {
  readonly height: number
  readonly panel: Panel
}

/**
 * The element of devtools. It looks at its `sources` while it is in the page. The attribute `theme` is 'light' or 'dark'; without it the
 * look is that of the system. With the attribute `inline` it has a place in the page, and does not lie over its lower edge.
 *
 * @example
 * const devtools = new PannierDevtools()
 * devtools.sources = { databases: [db] }
 * document.body.append(devtools)
 */
export class PannierDevtools extends HTMLElement {
  #sources: DevtoolsSources = {}
  #model: DevtoolsModel | undefined
  #sure: string | undefined
  #height = HEIGHT
  #isAsked = false
  #renderedMs = -Infinity
  readonly #environment = systemEnvironment()

  /** The parts of the app to look at. */
  get sources(): DevtoolsSources {
    return this.#sources
  }

  set sources(sources: DevtoolsSources) {
    this.#sources = sources
    if (this.isConnected) this.#start()
  }

  /** @internal Called when it is put into a page. */
  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
    this.#height = kept().height ?? HEIGHT
    this.#start()
  }

  /** @internal Called when it is taken out of a page: it looks no longer. */
  disconnectedCallback(): void {
    this.#model?.stop()
    this.#model = undefined
  }

  #start(): void {
    this.#model?.stop()
    const { locks, storage } = navigator
    const model = new DevtoolsModel(this.#sources, this.#environment, { locks, storage })
    this.#model = model
    model.subscribe(() => this.#renderSoon())
    model.requests.watch(globalThis)
    const { panel } = kept()
    if (panel !== undefined && PANELS.includes(panel)) model.show(panel)
    this.#renderNow()
  }

  #renderSoon(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    const waitMs = this.#renderedMs + RENDER_MS_MIN - this.#environment.now()
    this.#environment.after(Math.max(0, waitMs), () => this.#renderNow())
  }

  #renderNow(): void {
    this.#isAsked = false
    const model = this.#model
    if (model === undefined) return
    this.#renderedMs = this.#environment.now()
    keep({ height: this.#height, panel: model.panel })
    render(dockView(this.#dock(model)), this.shadowRoot!)
  }

  #dock(model: DevtoolsModel): Dock {
    return {
      model,
      height: this.#height,
      sure: this.#sure,
      ask: (name) => {
        this.#sure = name
        this.#renderSoon()
      },
      copy: (text) => void navigator.clipboard?.writeText(text).catch(() => {}),
      resize: (height) => {
        this.#height = Math.max(HEIGHT_MIN, Math.min(height, innerHeight * 0.96))
        this.#renderSoon()
      },
      close: () => {
        this.dispatchEvent(new Event('close'))
        this.remove()
      },
    }
  }
}

/** Nothing, where the browser denies the page its storage. */
function kept(): Partial<Kept> {
  try {
    return (JSON.parse(localStorage.getItem(KEPT) ?? '{}') ?? {}) as Partial<Kept>
  } catch {
    return {}
  }
}

function keep(state: Kept): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify(state))
  } catch {
    // Then it opens as it did at first.
  }
}

const elements = globalThis.customElements as CustomElementRegistry | undefined
if (elements?.get(NAME) === undefined) elements?.define(NAME, PannierDevtools)
