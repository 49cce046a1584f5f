/** The few things that all pages need of the DOM. Text only ever enters as text nodes, so no name can be markup. */

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
