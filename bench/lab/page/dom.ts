/** The few things that the page needs of the DOM. Text only ever enters as text nodes, so nothing in a file can be markup. */

/** The element with that id, which index.html has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`index.html has no #${id}`)
  return element as T
}

export function create<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/** Sets the text only if it is another one: an unchanged text causes no work and no announcement. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

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
