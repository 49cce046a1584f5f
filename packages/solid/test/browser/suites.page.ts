/** The suite of the bindings with Solid in a page. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { pageSuite } from '../../../stores/testing/binding-suite.ts'
import { solidBinding } from '../binding.ts'

await runCases((test) => pageSuite({ test, create: () => solidBinding }))
