/** Goal: React has each behaviour that all bindings share. Its components render nothing, so they need no page. */
import { afterAll, test, vi } from 'vitest'
import { bindingSuite } from '../../stores/testing/binding-suite.ts'
import { aWhile } from '../../stores/testing/fixture.ts'
import { reactBinding } from './binding.ts'

class NoElement {
  readonly nodeType = 1
  readonly nodeName = 'DIV'
  readonly tagName = 'DIV'
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml'
  textContent = ''
  addEventListener(): void {}
}

vi.stubGlobal('window', { HTMLIFrameElement: NoElement })
// React ends the effects of what was unmounted a moment later.
afterAll(aWhile)

function host(): Element {
  const element = new NoElement()
  const ownerDocument = Object.assign(new NoElement(), { body: element })
  return Object.assign(element, { ownerDocument }) as never
}

bindingSuite({ test, create: () => reactBinding(host) })
