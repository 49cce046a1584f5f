/** Goal: React has each behaviour that all bindings share. Its components render nothing, so they need no page. */
import { afterAll, test, vi } from 'vitest'
import { bindingSuite } from '../../stores/testing/binding-suite.ts'
import { aWhile } from '../../stores/testing/fixture.ts'
import { reactBinding } from './binding.ts'
import { host, NoElement } from './no-element.ts'

vi.stubGlobal('window', { HTMLIFrameElement: NoElement })
// React ends the effects of what was unmounted a moment later.
afterAll(aWhile)

bindingSuite({ test, create: () => reactBinding(host) })
