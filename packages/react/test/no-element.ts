/** An element that is never drawn, for components that render nothing. React looks for its class in the window. */
export class NoElement {
  readonly nodeType = 1
  readonly nodeName = 'DIV'
  readonly tagName = 'DIV'
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml'
  textContent = ''
  addEventListener(): void {}
}

export function host(): Element {
  const element = new NoElement()
  const ownerDocument = Object.assign(new NoElement(), { body: element })
  return Object.assign(element, { ownerDocument }) as never
}
