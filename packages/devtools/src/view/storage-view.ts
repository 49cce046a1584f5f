/** The panel of storage: sizes, tabs, and checks. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { Shown } from '../model/devtools.ts'
import { bytesText, countText } from './format.ts'
import { act, emptyText, problemText, type Ui } from './parts.ts'

export function storageView(_ui: Ui, { source, health }: Shown): TemplateResult {
  const { sizes, tabs, usedBytes, quotaBytes, isPersisted, checkDone, report } = health
  const { storage, encryption, damage } = source.db
  const stored = sizes.reduce((sum, { bytes = 0 }) => sum + bytes, 0)
  const columns = sizes.reduce((sum, { columnBytes }) => sum + columnBytes, 0)
  return html`<div class="columns two">
    <section class="pane" aria-label="Database">
      <div class="toolbar">
        <b class="grow clip">${source.name}</b>
        <button @click=${act(() => health.refresh())}>Refresh</button>
        <button title="Writes what is only in the log to pages" @click=${act(() => health.flush())}>Flush</button>
        ${
          checkDone === undefined
            ? html`<button title="Reads everything and compares" @click=${act(() => health.check())}>Check</button>`
            : html`<button @click=${act(() => health.cancel())}>Cancel ${Math.round(checkDone * 100)} %</button>`
        }
      </div>
      ${problemText(damage?.message ?? health.error)}
      <div class="scroll">
        ${report === undefined ? nothing : html`<p class="note report">${report}</p>`}
        <table class="facts">
          <tbody>
            ${fact('Storage', storage)} ${fact('Encrypted', encryption === undefined ? 'no' : 'yes')}
            ${fact('Stored in pages', bytesText(stored))} ${fact('Columns in memory', bytesText(columns))}
            ${fact('Origin uses', `${bytesText(usedBytes)} of ${bytesText(quotaBytes)}`)}
            ${fact('Persistent', isPersisted === undefined ? 'not known' : isPersisted ? 'yes' : 'no: the browser may clear it')}
          </tbody>
        </table>
        <table class="facts">
          <thead>
            <tr>
              <th scope="col">Collection</th>
              <th scope="col" class="number">Stored</th>
              <th scope="col" class="number">Columns</th>
            </tr>
          </thead>
          <tbody>
            ${sizes.map(
              ({ name, bytes, columnBytes }) =>
                html`<tr>
                  <th scope="row" class="clip">${name}</th>
                  <td class="number">${bytesText(bytes)}</td>
                  <td class="number">${bytesText(columnBytes)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>
    <section class="pane side" aria-label="Tabs">
      <div class="toolbar"><b class="grow">Tabs and workers</b><span class="number">${countText(tabs.length)}</span></div>
      <div class="scroll">
        ${
          tabs.length === 0
            ? emptyText('No locks', 'This storage is not shared among tabs, or nothing was written yet.')
            : tabs.map(
                ({ name, parts }) =>
                  html`<article class="card">
                  <b>${name}</b>
                  <ul>
                    ${parts.map((part) => html`<li>${part}</li>`)}
                  </ul>
                </article>`,
              )
        }
      </div>
    </section>
  </div>`
}

function fact(name: string, value: string): TemplateResult {
  return html`<tr>
    <th scope="row">${name}</th>
    <td>${value}</td>
  </tr>`
}
