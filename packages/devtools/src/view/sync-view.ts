/** The panel of sync: clients with what waits and what was refused, replications, and requests. */
import { html, nothing, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import type { Replication } from 'pannier'
import type { RejectedWrite, UnsentWrite } from '@pannier/client'
import { messageOf } from '../model/model.ts'
import type { RequestRow } from '../model/requests.ts'
import { accountName } from '../model/source.ts'
import type { ClientModel } from '../model/sync.ts'
import { bytesText, countText, msText, plural, timeText } from './format.ts'
import { act, choiceTable, emptyText, problemText, sureButton, type Ui } from './parts.ts'

export function syncView(ui: Ui): TemplateResult {
  const { clients, replications } = ui.model
  const selected = clients.find(({ choice }) => choice !== undefined)
  const isEmpty = clients.length === 0 && replications.length === 0
  return html`<div class="columns two">
    <section class="pane" aria-label="Clients and replications">
      <div class="scroll">
        ${
          isEmpty
            ? emptyText('Nothing syncs here', 'Give devtools the clients and replications of the app.')
            : [...clients.map((client, at) => clientCard(ui, client, at)), ...replications.map(replicationCard)]
        }
      </div>
    </section>
    <section class="pane side" aria-label=${selected === undefined ? 'Requests' : 'Refused write'}>
      ${selected === undefined ? requestList(ui) : rejectedView(ui, selected)}
    </section>
  </div>`
}

function clientCard(ui: Ui, client: ClientModel, at: number): TemplateResult {
  const { state, unsent, rejected, isWorking } = client
  const { status, account, error, received } = state
  const who = account === undefined ? '' : `${account.collectionName} / `
  return html`<article class="card">
    <div class="toolbar">
      <span class="badge ${status}">${status}</span><b class="grow clip">${who}${accountName(state)}</b>
      <button ?disabled=${isWorking} @click=${act(() => client.sync())}>Sync now</button>
    </div>
    <p class="muted clip">${tokenText(client)}</p>
    <p class="muted">
      ${plural(received, 'row')} received in the first sync${state.isComplete ? '' : `, incomplete: ${state.incomplete.join(', ')}`}
    </p>
    ${problemText(client.error ?? (error === undefined ? undefined : messageOf(error)))}
    <h3>${plural(state.unsent, 'write')} waiting</h3>
    ${repeat(unsent, ({ id }) => id, unsentRow)}
    <h3>${plural(state.rejected, 'write')} refused</h3>
    ${repeat(
      rejected,
      ({ id }) => id,
      (one) => rejectedRow(ui, client, one, at),
    )}
  </article>`
}

function tokenText({ token }: ClientModel): string {
  if (token === undefined) return 'No token'
  const until = token.expires === undefined ? '' : ` until ${new Date(token.expires).toLocaleString()}`
  return `A token of ${token.length} characters, valid${until}`
}

function unsentRow({ writes }: UnsentWrite): TemplateResult {
  return html`<div class="write">
    ${writes.map(
      ({ action, collection, id, mine }) =>
        html`<span class="clip"
          ><span class="badge">${action}</span> <b>${collection}/${id}</b> <code>${JSON.stringify(mine)}</code></span
        >`,
    )}
  </div>`
}

function rejectedRow(ui: Ui, client: ClientModel, rejected: RejectedWrite, at: number): TemplateResult {
  const { id, code, message, writes } = rejected
  const write = writes[rejected.at]
  const name = write === undefined ? id : `${write.action} ${write.collection}/${write.id}`
  return html`<div class="write refused">
    <span class="clip"><span class="badge failed">${code}</span> <b>${name}</b></span>
    <span>${message}</span>
    <div class="actions">
      <button
        aria-pressed=${client.selected?.id === id ? 'true' : 'false'}
        @click=${act(() => client.select(rejected))}
      >
        Compare
      </button>
      <button ?disabled=${client.isWorking} @click=${act(() => client.retry(rejected))}>Retry</button>
      ${sureButton(ui, `discard ${at} ${id}`, 'Discard', () => client.discard(rejected))}
    </div>
  </div>`
}

function rejectedView(ui: Ui, client: ClientModel): TemplateResult {
  const { selected, choice } = client
  if (selected === undefined || choice === undefined) return requestList(ui)
  const close = (): void => {
    client.selected = client.choice = undefined
    ui.ask(undefined)
  }
  return html`<div class="toolbar">
      <b class="grow clip">${selected.message}</b><button @click=${close}>Close</button>
    </div>
    ${choiceTable(choice, client)}
    <footer class="toolbar">
      <span class="grow muted">Fields of the server stay as they are.</span>
      ${sureButton(ui, `discard shown ${selected.id}`, 'Discard', () => client.discard(selected))}
      <button class="primary" ?disabled=${client.isWorking} @click=${act(() => client.retry(selected))}>
        Write what is chosen
      </button>
    </footer>`
}

function replicationCard(replication: Replication): TemplateResult {
  const { status, parts, error } = replication
  const isOver = status === 'complete' || status === 'cancelled' || status === 'failed'
  return html`<article class="card">
    <div class="toolbar">
      <span class="badge ${status}">${status}</span><b class="grow clip">Replication</b>
      ${
        isOver
          ? nothing
          : html`<button @click=${() => (status === 'paused' ? replication.resume() : replication.pause())}>
              ${status === 'paused' ? 'Resume' : 'Pause'}
            </button>
            <button @click=${() => replication.cancel()}>Cancel</button>`
      }
    </div>
    ${problemText(error === undefined ? undefined : messageOf(error))}
    ${parts.map(
      ({ collection, direction, status: own, progress }) =>
        html`<div class="part">
          <span class="clip"><b>${collection}</b> ${direction}</span><span class="badge ${own}">${own}</span>
          <span class="number" title="Documents written">${countText(progress.docsWritten)} written</span>
          <span class="number">${countText(progress.pending)} to look at</span>
        </div>`,
    )}
  </article>`
}

function requestList(ui: Ui): TemplateResult {
  const { requests } = ui.model
  const row = ({ at, method, url, status, ms, bytes, isSigned, error }: RequestRow): TemplateResult =>
    html`<div class="row request" title=${url}>
      <span class="number">${timeText(at)}</span><b>${method}</b><code class="clip">${url}</code>
      <span title=${isSigned ? 'With a token' : 'Without a token'}>${isSigned ? 'signed' : ''}</span>
      <span class=${error !== undefined || (status ?? 0) >= 400 ? 'number bad' : 'number'}
        >${error === undefined ? (status ?? '…') : 'failed'}</span
      >
      <span class="number">${msText(ms)}</span><span class="number">${bytesText(bytes)}</span>
    </div>`
  return html`<div class="toolbar">
      <b class="grow">Requests</b><button @click=${() => requests.clear()}>Clear</button>
    </div>
    <div class="scroll list">
      ${
        requests.rows.length === 0
          ? emptyText(
              'No request yet',
              'Requests of this tab are listed from here on. If another tab leads the sync, it makes them.',
            )
          : repeat(requests.rows.toReversed(), ({ id }) => id, row)
      }
    </div>`
}
