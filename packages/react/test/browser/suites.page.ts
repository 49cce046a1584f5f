/** The suite of the bindings with React in a page. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { bindingSuite } from '../../../stores/testing/binding-suite.ts'
import { reactBinding } from '../binding.ts'

await runCases((test) => bindingSuite({ test, create: () => reactBinding(() => document.createElement('div')) }, 1000))
