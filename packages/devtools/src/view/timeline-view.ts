/** The panel of the time line. */
import { html, nothing, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import type { EventKind, TimelineEvent } from '../model/timeline.ts'
import { countText, plural, timeText } from './format.ts'
import { act, emptyText, type Ui } from './parts.ts'

const KINDS: readonly (readonly [EventKind, string])[] = [
  ['commit', 'Commits'],
  ['sync', 'Sync'],
  ['error', 'Errors'],
]
/** Ids that are shown as links. */
const LINKS_MAX = 5

export function timelineView(ui: Ui): TemplateResult {
  const { timeline } = ui.model
  const { shown, isPaused, missed, kinds } = timeline
  return html`<section class="pane whole" aria-label="Time line">
    <div class="toolbar">
      <button class="fixed" aria-pressed=${isPaused ? 'true' : 'false'} @click=${() => (isPaused ? timeline.resume() : timeline.pause())}>
        ${isPaused ? 'Resume' : 'Pause'}
      </button>
      <button @click=${() => timeline.clear()}>Clear</button>
      ${KINDS.map(
        ([kind, label]) =>
          html`<button aria-pressed=${kinds.has(kind) ? 'true' : 'false'} @click=${() => timeline.toggle(kind)}>
            ${label}
          </button>`,
      )}
      <span class="grow"></span>
      <span class="muted">${isPaused ? `${countText(missed)} since the pause` : plural(shown.length, 'event')}</span>
    </div>
    <div class="scroll list">
      ${
        shown.length === 0
          ? emptyText('Nothing has happened yet', 'Each commit, of this tab or another, is listed here from now on.')
          : repeat(
              shown.toReversed(),
              ({ id }) => id,
              (event) => eventRow(ui, event),
            )
      }
    </div>
  </section>`
}

function eventRow(ui: Ui, event: TimelineEvent): TemplateResult {
  const { at, kind, where, text, isLocal, changes = [] } = event
  const from = isLocal === undefined ? '' : isLocal ? 'this tab' : 'elsewhere'
  return html`<div class="row event">
    <span class="number">${timeText(at)}</span>
    <span class="badge ${kind === 'error' ? 'failed' : kind}">${kind}</span>
    <span class="clip muted" title=${where}>${where}</span><span class="muted">${from}</span>
    <span class="clip">${changes.length === 0 ? text : changes.map((change) => changeLinks(ui, where, change))}</span>
  </div>`
}

function changeLinks(
  ui: Ui,
  database: string,
  { collection, ids, dropped }: NonNullable<TimelineEvent['changes']>[number],
): TemplateResult {
  const links = (ids ?? [])
    .slice(0, LINKS_MAX)
    .map(
      (id) =>
        html`<button class="link mono" @click=${act(() => ui.model.open(database, collection, id))}>${id}</button>`,
    )
  const more = ids === undefined ? 'many documents' : ids.length > LINKS_MAX ? '…' : nothing
  return html`<b>${collection}</b> ${dropped ? 'was dropped' : html`${links} ${more}`} `
}
