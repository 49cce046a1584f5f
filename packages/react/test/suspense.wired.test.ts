/** Goal: a component waits for the first rows below a Suspense, as in all bindings. React shows them after a timer. */
import { afterAll, test, vi } from 'vitest'
import { aWhile } from '../../stores/testing/fixture.ts'
import { waitingCases } from '../../stores/testing/waiting-cases.ts'
import { reactBinding } from './binding.ts'
import { host, NoElement } from './no-element.ts'

vi.stubGlobal('window', { HTMLIFrameElement: NoElement })
// React ends the effects of what was unmounted a moment later.
afterAll(aWhile)

waitingCases({ test, create: () => reactBinding(host) })
