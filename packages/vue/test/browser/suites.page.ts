/** The suite of the bindings with Vue in a page. */
import { createApp } from 'vue'
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { pageSuite } from '../../../stores/testing/binding-suite.ts'
import { vueBinding } from '../binding.ts'

const binding = vueBinding((component, prepare) => {
  const app = createApp(component)
  prepare(app)
  app.mount(document.createElement('div'))
  return app
})

await runCases((test) => pageSuite({ test, create: () => binding }))
