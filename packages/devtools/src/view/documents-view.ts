/** The panel of documents: collections, a page of one of them, and the document that is edited. */
import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { repeat } from 'lit-html/directives/repeat.js'
import type { ConflictsModel } from '../model/conflicts.ts'
import type { Shown } from '../model/devtools.ts'
import type { DocumentsModel, QuestionKind } from '../model/documents.ts'
import type { EditorModel } from '../model/editor.ts'
import { bytesText, countText, plural } from './format.ts'
import { act, choiceTable, emptyText, problemText, sureButton, type Ui } from './parts.ts'

export function documentsView(ui: Ui, shown: Shown): TemplateResult {
  const { documents, editor, conflicts } = shown
  const side = editor !== undefined ? editorView(ui, editor) : conflicts && conflictsView(ui, conflicts)
  return html`<div class=${side === undefined ? 'columns' : 'columns with-side'}>
    ${collectionList(ui, documents)}
    <section class="pane" aria-label="Documents">${toolbar(ui, shown)} ${rowList(ui, documents, editor)}</section>
    <section class="pane side" aria-label="Document">
      ${side ?? emptyText('No document is selected', 'Choose one of the list, or make a new one.')}
    </section>
  </div>`
}

function collectionList(ui: Ui, documents: DocumentsModel): TemplateResult {
  if (documents.collections.length === 0)
    return html`<nav class="pane">${emptyText('No collections', 'The first write makes one.')}</nav>`
  return html`<nav class="pane list" data-list aria-label="Collections">
    ${repeat(
      documents.collections,
      ({ name }) => name,
      ({ name, documents: count, deleted, bytes }) =>
        html`<button
          class="row"
          aria-current=${name === documents.collection ? 'true' : 'false'}
          title="${plural(count, 'document')}, ${countText(deleted)} deleted, ${bytesText(bytes)}"
          @click=${act(() => {
            ui.model.closeEditor()
            return documents.select(name)
          })}
        >
          <span class="clip">${name}</span><span class="number">${countText(count)}</span>
        </button>`,
    )}
  </nav>`
}

const PLACEHOLDERS: Readonly<Record<QuestionKind, string>> = {
  ids: 'Ids that begin with …',
  selector: '{ "city": "Oslo" }',
  words: 'Words of the text index',
}

function toolbar(ui: Ui, { documents, source }: Shown): TemplateResult {
  const { kind, text, sort, collection } = documents
  // A click is of what is selected by then: it may come before the next rendering.
  const ofSelected = (action: (name: string) => unknown) => act(() => action(documents.collection!))
  const onKind = (event: Event): void =>
    void documents.ask({ kind: (event.target as HTMLSelectElement).value as QuestionKind, text: '' })
  const onText = (event: Event): void => void documents.ask({ text: (event.target as HTMLInputElement).value })
  const onSort = (event: Event): void => void documents.ask({ sort: (event.target as HTMLInputElement).value })
  return html`<div class="toolbar">
    <select aria-label="Kind of search" .value=${live(kind)} @change=${onKind}>
      <option value="ids">Ids</option>
      <option value="selector">Selector</option>
      <option value="words" ?disabled=${!documents.hasWords}>Words</option>
    </select>
    <input
      class="grow mono"
      aria-label="Search"
      spellcheck="false"
      placeholder=${PLACEHOLDERS[kind]}
      .value=${live(text)}
      @change=${onText}
      @input=${kind === 'ids' ? onText : nothing}
    />
    <input
      class="short mono"
      aria-label="Sort by"
      spellcheck="false"
      placeholder="sort: -age"
      .value=${live(sort)}
      @change=${onSort}
    />
    ${
      source.client === undefined && collection !== undefined
        ? html`<button @click=${ofSelected((name) => ui.model.showConflicts(name))}>Conflicts</button>`
        : nothing
    }
    <button
      class="primary"
      ?disabled=${collection === undefined}
      @click=${ofSelected((name) => ui.model.edit(name, undefined))}
    >
      New
    </button>
  </div>`
}

function rowList(ui: Ui, documents: DocumentsModel, editor: EditorModel | undefined): TemplateResult {
  const { rows, total, page, pages, collection } = documents
  const list =
    rows.length === 0
      ? emptyText(total === 0 ? 'No document matches' : 'Reading …')
      : repeat(
          rows,
          ({ id }) => id,
          ({ id, preview }) =>
            html`<button
              class="row document"
              aria-current=${id === editor?.id ? 'true' : 'false'}
              @click=${act(() => ui.model.edit(collection!, id))}
            >
              <b class="clip mono">${id}</b><code class="clip">${preview}</code>
            </button>`,
        )
  return html`${problemText(documents.error)}
    <div class="scroll list" data-list>${list}</div>
    <footer class="toolbar">
      <span class="grow number start">${total === undefined ? '' : plural(total, 'document')}</span>
      <button aria-label="Page before" ?disabled=${page === 0} @click=${act(() => documents.turnTo(page - 1))}>
        ‹
      </button>
      <span class="number">${countText(page + 1)} / ${countText(pages)}</span>
      <button aria-label="Next page" ?disabled=${page + 1 >= pages} @click=${act(() => documents.turnTo(page + 1))}>
        ›
      </button>
    </footer>`
}

function editorView(ui: Ui, editor: EditorModel): TemplateResult {
  const { id, collection, text, problem, isDirty, isStale, isGone, conflicts, error } = editor
  const onInput = (event: Event): void => editor.edit((event.target as HTMLTextAreaElement).value)
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    void editor.save()
  }
  return html`<div class="toolbar">
      <b class="grow clip mono" title=${id ?? ''}>${id ?? `New in ${collection}`}</b>
      <button @click=${act(() => ui.model.closeEditor())}>Close</button>
    </div>
    ${noteOf(ui, editor)}
    <textarea
      class="grow mono"
      aria-label="Document as JSON"
      spellcheck="false"
      autocomplete="off"
      .value=${live(text)}
      ?readonly=${isGone}
      @input=${onInput}
      @keydown=${onKey}
    ></textarea>
    ${problemText(problem ?? error)}
    <footer class="toolbar">
      <span class="grow muted">${isDirty ? 'Changed' : id === undefined ? '' : 'As stored'}</span>
      ${
        conflicts.length > 0
          ? html`<button @click=${act(() => ui.model.showConflicts(collection, id))}>
            ${plural(conflicts.length, 'conflict')}
          </button>`
          : nothing
      }
      ${id === undefined || isGone ? nothing : sureButton(ui, 'delete', 'Delete', () => editor.remove())}
      ${
        isDirty && id !== undefined && !isGone
          ? html`<button @click=${act(() => editor.load())}>Reset</button>`
          : nothing
      }
      <button
        class="primary"
        title="Ctrl+S"
        ?disabled=${problem !== undefined || isGone || isStale || !isDirty}
        @click=${act(() => editor.save())}
      >
        Save
      </button>
    </footer>`
}

function noteOf(ui: Ui, editor: EditorModel): TemplateResult | typeof nothing {
  if (editor.isGone) return html`<p class="note">This document is deleted.</p>`
  if (!editor.isStale) return nothing
  return html`<p class="note">
    It was written elsewhere meanwhile.
    <button @click=${act(() => editor.load())}>Take theirs</button>
    ${sureButton(ui, 'overwrite', 'Overwrite', () => editor.overwrite())}
  </p>`
}

function conflictsView(ui: Ui, conflicts: ConflictsModel): TemplateResult {
  const { ids, total, id, choice, collection } = conflicts
  const choices =
    choice === undefined || id === undefined
      ? emptyText(`No conflicts in ${collection}`, 'Replication makes them, when two devices edit one document.')
      : html`${choiceTable(choice, conflicts)}
          <footer class="toolbar">
            <span class="grow muted">The other versions are deleted.</span>
            <button class="primary" @click=${act(() => conflicts.settle())}>Store what is chosen</button>
          </footer>`
  return html`<div class="toolbar">
      <select
        class="grow mono"
        aria-label="Document with conflicts"
        ?disabled=${ids.length === 0}
        .value=${live(id ?? '')}
        @change=${(event: Event) => void conflicts.select((event.target as HTMLSelectElement).value)}
      >
        ${ids.map((one) => html`<option value=${one}>${one}</option>`)}
      </select>
      <span class="number">${plural(total, 'conflict')}</span>
      <button @click=${act(() => ui.model.closeEditor())}>Close</button>
    </div>
    ${problemText(conflicts.error)} ${choices}`
}
