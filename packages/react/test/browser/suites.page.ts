/** The suite of the bindings with React in a page. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { pageSuite } from '../../../stores/testing/binding-suite.ts'
import { reactBinding } from '../binding.ts'

await runCases((test) => pageSuite({ test, create: () => reactBinding(() => document.createElement('div')) }))
