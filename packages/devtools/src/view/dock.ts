/** The frame around the panels: tabs, the choice of a database, and what was closed. */
import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { PANELS, type Panel } from '../model/devtools.ts'
import { documentsView } from './documents-view.ts'
import { emptyText, type Ui } from './parts.ts'
import { queriesView } from './queries-view.ts'
import { storageView } from './storage-view.ts'
import { syncView } from './sync-view.ts'
import { timelineView } from './timeline-view.ts'

/** The means of the frame. */
export interface Dock extends Ui {
  readonly height: number
  resize(height: number): void
  close(): void
}

const TITLES: Readonly<Record<Panel, string>> = {
  documents: 'Documents',
  queries: 'Queries',
  sync: 'Sync',
  timeline: 'Time line',
  storage: 'Storage',
}
const RESIZE_STEP = 24

export function dockView(dock: Dock): TemplateResult {
  const { model } = dock
  return html`<div class="dock" .style=${`height:${dock.height}px`} @keydown=${(event: KeyboardEvent) => onKey(dock, event)}>
    ${grip(dock)}
    <div>
      <div class="bar-top">
        <span class="brand">Pannier</span>
        <div role="tablist" aria-label="Panels">${PANELS.map((panel) => tab(dock, panel))}</div>
        ${choiceOfSource(dock)}
        <button aria-label="Close devtools" title="Close" @click=${() => dock.close()}>✕</button>
      </div>
      ${endedText(dock)}
    </div>
    <main role="tabpanel" id="panel" aria-label=${TITLES[model.panel]}>${panelView(dock)}</main>
  </div>`
}

function tab({ model }: Dock, panel: Panel): TemplateResult {
  const isSelected = model.panel === panel
  const refused = model.clients.reduce((sum, { state }) => sum + state.rejected, 0)
  return html`<button
    role="tab"
    aria-controls="panel"
    aria-selected=${isSelected ? 'true' : 'false'}
    tabindex=${isSelected ? 0 : -1}
    @click=${() => model.show(panel)}
  >
    ${TITLES[panel]}${panel === 'sync' && refused > 0 ? html`<span class="badge failed">${refused}</span>` : nothing}
  </button>`
}

function choiceOfSource({ model }: Dock): TemplateResult | typeof nothing {
  const { sources } = model.sources
  if (sources.length < 2) return nothing
  const onChange = (event: Event): void => model.select(sources[Number((event.target as HTMLSelectElement).value)]!)
  return html`<select
    aria-label="Database"
    .value=${live(String(sources.findIndex((source) => source === model.shown?.source)))}
    @change=${onChange}
  >
    ${sources.map(({ name }, at) => html`<option value=${at}>${name}</option>`)}
  </select>`
}

function endedText({ model }: Dock): TemplateResult | typeof nothing {
  const source = model.shown?.source
  if (source?.ended === undefined) return nothing
  return html`<div class="ended" role="status"><b>${source.name} is closed.</b><span>${source.ended}</span></div>`
}

function panelView(dock: Dock): TemplateResult {
  const { panel, shown } = dock.model
  if (panel === 'sync') return syncView(dock)
  if (panel === 'timeline') return timelineView(dock)
  if (shown === undefined)
    return emptyText(
      'No database',
      'Give devtools the databases and clients of the app: offerDevtools({ databases: [db] }).',
    )
  if (panel === 'documents') return documentsView(dock, shown)
  return panel === 'queries' ? queriesView(dock, shown) : storageView(dock, shown)
}

function grip(dock: Dock): TemplateResult {
  const onDown = (down: PointerEvent): void => {
    const handle = down.currentTarget as HTMLElement
    const from = dock.height
    const onMove = (move: PointerEvent): void => dock.resize(from + down.clientY - move.clientY)
    handle.setPointerCapture(down.pointerId)
    handle.addEventListener('pointermove', onMove)
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', onMove), {
      once: true,
    })
  }
  const onArrow = ({ key }: KeyboardEvent): void => {
    if (key === 'ArrowUp') dock.resize(dock.height + RESIZE_STEP)
    if (key === 'ArrowDown') dock.resize(dock.height - RESIZE_STEP)
  }
  return html`<div
    class="grip"
    role="separator"
    aria-orientation="horizontal"
    aria-label="Height of devtools"
    aria-valuenow=${Math.round(dock.height)}
    tabindex="0"
    @pointerdown=${onDown}
    @keydown=${onArrow}
  ></div>`
}

/** Arrows move among tabs and rows. Nothing that is typed here reaches shortcuts of the app. */
function onKey({ model }: Dock, event: KeyboardEvent): void {
  event.stopPropagation()
  const target = event.composedPath()[0]
  if (!(target instanceof HTMLElement)) return
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
  if (step === undefined) return
  if (target.role === 'tab') {
    const at = (PANELS.indexOf(model.panel) + step + PANELS.length) % PANELS.length
    model.show(PANELS[at]!)
    event.preventDefault()
    const tabs = target.parentElement!.children
    queueMicrotask(() => (tabs[at] as HTMLElement).focus())
  } else if (target.matches('[data-list] > button') && event.key.match(/Up|Down/) !== null) {
    const next = step < 0 ? target.previousElementSibling : target.nextElementSibling
    if (next instanceof HTMLElement) next.focus()
    event.preventDefault()
  }
}
