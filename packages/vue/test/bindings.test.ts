/** Goal: Vue has each behaviour that all bindings share. Its components render nothing, so they need no page. */
import { createRenderer } from 'vue'
import { test } from 'vitest'
import { bindingSuite } from '../../stores/testing/binding-suite.ts'
import { waitingCases } from '../../stores/testing/waiting-cases.ts'
import { vueBinding } from './binding.ts'

/** A renderer of nothing. */
const { createApp } = createRenderer<object, object>({
  patchProp() {},
  insert() {},
  remove() {},
  createElement: () => ({}),
  createText: () => ({}),
  createComment: () => ({}),
  setText() {},
  setElementText() {},
  parentNode: () => ({}),
  nextSibling: () => null,
})

const binding = vueBinding((component, prepare) => {
  const app = createApp(component)
  prepare(app as never)
  app.mount({})
  return app as never
})

bindingSuite({ test, create: () => binding })
waitingCases({ test, create: () => binding })
