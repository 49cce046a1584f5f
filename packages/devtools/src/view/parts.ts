/** Parts that several panels share. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { Choice } from '../model/choice.ts'
import type { DevtoolsModel } from '../model/devtools.ts'

/** The means of a panel. */
export interface Ui {
  readonly model: DevtoolsModel
  /** The name of the button that was pressed once, and asks whether its user is sure. */
  readonly sure: string | undefined
  /** Asks about the button of this name, and renders again. */
  ask(name: string | undefined): void
  copy(text: string): void
}

/** Runs an action of a button; its failure is shown by the model. */
export function act(action: () => unknown): () => void {
  return () => void action()
}

/** A button that has to be pressed twice. */
export function sureButton(ui: Ui, name: string, label: string, action: () => unknown): TemplateResult {
  const isSure = ui.sure === name
  const press = (): void => {
    ui.ask(isSure ? undefined : name)
    if (isSure) action()
  }
  return html`<button
    class=${isSure ? 'danger sure' : 'danger'}
    @click=${press}
    @blur=${() => isSure && ui.ask(undefined)}
  >
    ${isSure ? `Really ${label.toLowerCase()}?` : label}
  </button>`
}

/** A place without content says why, and what to do. */
export function emptyText(title: string, hint?: string): TemplateResult {
  return html`<div class="empty"><b>${title}</b>${hint === undefined ? nothing : html`<span>${hint}</span>`}</div>`
}

export function problemText(text: string | undefined): TemplateResult | typeof nothing {
  return text === undefined ? nothing : html`<p class="problem" role="alert">${text}</p>`
}

interface ChoiceActions {
  choose(field: string, side: number): void
  chooseAll(side: number): void
}

/** Versions side by side. A click on a value takes the field from there. */
export function choiceTable(choice: Choice, actions: ChoiceActions): TemplateResult {
  const head = choice.sides.map(
    ({ title, isChoosable }, side) =>
      html`<th scope="col">
        <span class="clip" title=${title}>${title}</span>
        ${isChoosable ? html`<button @click=${() => actions.chooseAll(side)}>Take all</button>` : nothing}
      </th>`,
  )
  const rows = choice.rows.map(
    ({ field, differs, cells, chosen }) =>
      html`<tr class=${differs ? 'differs' : ''}>
        <th scope="row" class="clip">${field}</th>
        ${cells.map((cell, side) => {
          const text = cell ?? '(none)'
          if (!choice.sides[side]!.isChoosable) return html`<td class="shown"><code>${text}</code></td>`
          return html`<td>
            <button
              class="cell"
              aria-pressed=${side === chosen ? 'true' : 'false'}
              @click=${() => actions.choose(field, side)}
            >
              <code>${text}</code>
            </button>
          </td>`
        })}
      </tr>`,
  )
  return html`<div class="scroll">
    <table class="choice">
      <thead>
        <tr>
          <th scope="col">Field</th>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}
