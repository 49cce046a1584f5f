/** DOM helpers of the lab's page, besides those that all pages share. */
import { create } from '../../../tools/web/dom.ts'

/** Keeps what is chosen, as far as it is still there. */
export function setOptions(
  select: HTMLSelectElement,
  options: readonly (readonly [value: string, text: string])[],
): void {
  const chosen = select.value
  select.replaceChildren(...options.map(([value, text]) => create('option', { value }, text)))
  if (options.some(([value]) => value === chosen)) select.value = chosen
}

/** A checkbox or radio button with its label, drawn as a chip. */
export function chip(
  type: 'checkbox' | 'radio',
  {
    name,
    value,
    text,
    checked,
  }: { readonly name: string; readonly value: string; readonly text: string; readonly checked: boolean },
): HTMLLabelElement {
  const input = create('input', { type, name, value })
  input.checked = checked
  input.defaultChecked = checked
  return create('label', { class: 'chip' }, input, create('span', {}, text))
}

export function checkedValues(container: Element): string[] {
  return [...container.querySelectorAll<HTMLInputElement>('input:checked')].map((input) => input.value)
}

/** A table whose first column holds the heads of rows. Numbers are right-aligned. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly (Node | string)[])[],
  caption: string,
): HTMLTableElement {
  const head = create('tr', {}, ...heads.map((text) => create('th', { scope: 'col' }, text)))
  const body = rows.map(([first = '', ...rest]) =>
    create('tr', {}, create('th', { scope: 'row' }, first), ...rest.map((cell) => create('td', {}, cell))),
  )
  return create(
    'table',
    {},
    create('caption', { class: 'unseen' }, caption),
    create('thead', {}, head),
    create('tbody', {}, ...body),
  )
}
