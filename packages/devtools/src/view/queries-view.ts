/** The panel of queries: live ones with their costs, one that is typed, and an explanation as a tree. */
import { html, nothing, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import type { Shown } from '../model/devtools.ts'
import type { ExplainNode } from '../model/explain-tree.ts'
import type { Explained, LiveRow, QueriesModel } from '../model/queries.ts'
import { bytesText, countText, msText, plural } from './format.ts'
import { act, emptyText, problemText, type Ui } from './parts.ts'

export function queriesView(ui: Ui, { queries, documents }: Shown): TemplateResult {
  const names = documents.collections.map(({ name }) => name)
  return html`<div class="columns two">
    <section class="pane" aria-label="Live queries">
      ${typedQuery(queries, names, documents.collection)} ${liveTable(queries)}
      <footer class="toolbar">
        <span class="grow muted">${plural(queries.total, 'live query').replace('querys', 'queries')}</span>
        <button @click=${act(() => queries.refresh())}>Refresh</button>
      </footer>
    </section>
    <section class="pane side" aria-label="Explanation">
      ${problemText(queries.error)} ${explanation(ui, queries)}
    </section>
  </div>`
}

function typedQuery(queries: QueriesModel, names: readonly string[], first: string | undefined): TemplateResult {
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    const textOf = (name: string): string => form.get(name) as string
    const limit = textOf('limit')
    void queries.explain({
      collection: textOf('collection'),
      selector: textOf('selector'),
      sort: textOf('sort'),
      limit: limit === '' ? undefined : Number(limit),
    })
  }
  return html`<form class="toolbar" @submit=${onSubmit}>
    <select name="collection" aria-label="Collection">
      ${names.map((name) => html`<option value=${name} ?selected=${name === first}>${name}</option>`)}
    </select>
    <input class="grow mono" name="selector" aria-label="Selector" spellcheck="false" placeholder='{ "city": "Oslo" }' />
    <input class="short mono" name="sort" aria-label="Sort by" spellcheck="false" placeholder="sort: -age" />
    <input class="tiny mono" name="limit" type="number" min="0" aria-label="Limit" placeholder="limit" />
    ${
      queries.isRunning
        ? html`<button type="button" @click=${act(() => queries.cancel())}>Cancel</button>`
        : html`<button class="primary" ?disabled=${names.length === 0}>Explain</button>`
    }
  </form>`
}

function liveTable(queries: QueriesModel): TemplateResult {
  if (queries.rows.length === 0)
    return html`<div class="scroll">
      ${emptyText('No live query is at work', 'query.live() and query.liveCount() start one. Type a query above to explain it.')}
    </div>`
  const row = (live: LiveRow): TemplateResult =>
    html`<button
      class="row live"
      aria-current=${live.facts.state === queries.selected ? 'true' : 'false'}
      title="Run and explain it"
      @click=${act(() => queries.explainLive(live))}
    >
      <span class="clip"><b>${live.collection}</b> <span>${live.text}</span></span>
      <span class="badge">${live.counts ? 'count' : live.status}</span>
      <span class="number" title="Rows that it holds">${countText(live.rows)}</span>
      <span class="number" title="Times that it has read its rows">${countText(live.reads)}</span>
      <span class="number" title="Listeners">${countText(live.subscribers)}</span>
    </button>`
  return html`<div class="row live head" aria-hidden="true">
      <span>Query</span><span></span><span class="number">Rows</span><span class="number">Reads</span>
      <span class="number">Heard by</span>
    </div>
    <div class="scroll list" data-list>${repeat(queries.rows, ({ facts }) => facts.state, row)}</div>`
}

function explanation(ui: Ui, { explained, isRunning }: QueriesModel): TemplateResult {
  if (isRunning) return emptyText('The query runs …')
  if (explained === undefined)
    return emptyText(
      'No query is explained',
      'Choose a live query, or type one. It is run, and each step says what it took.',
    )
  return html`<div class="toolbar"><b class="grow clip" title=${explained.title}>${explained.title}</b></div>
    <dl class="figures">
      ${figure('rows', countText(explained.rows))} ${figure('documents read', countText(explained.documents))}
      ${figure('pages not in memory', countText(explained.pages))} ${figure('took', msText(explained.ms))}
    </dl>
    ${suggestion(ui, explained)}
    <div class="scroll"><ul class="tree" role="tree">${explained.tree.map(treeItem)}</ul></div>`
}

function figure(name: string, value: string): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

function suggestion(ui: Ui, { suggestion: index }: Explained): TemplateResult | typeof nothing {
  if (index === undefined) return nothing
  return html`<p class="note">
    An index would help: <code>${index}</code> <button @click=${() => ui.copy(index)}>Copy</button>
  </p>`
}

function treeItem(node: ExplainNode): TemplateResult {
  const { title, detail, expected, actual, bytes, share, isCostly, children } = node
  const counts = [
    actual === undefined ? undefined : plural(actual, 'row'),
    expected === undefined ? undefined : `${countText(Math.round(expected))} expected`,
    bytes === undefined ? undefined : `≈ ${bytesText(bytes)}`,
  ].filter((text) => text !== undefined)
  return html`<li role="treeitem" aria-expanded="true">
    <div class=${isCostly ? 'step costly' : 'step'}>
      <b>${title}</b><span class="counts">${counts.join(' · ')}</span>
      ${detail === '' ? nothing : html`<code>${detail}</code>`}
      <span class="bar"><span .style=${`width:${Math.max(share * 100, 0.5)}%`}></span></span>
      ${isCostly ? html`<em>It reads every document, and few of them match.</em>` : nothing}
    </div>
    ${children.length === 0 ? nothing : html`<ul role="group">${children.map(treeItem)}</ul>`}
  </li>`
}
