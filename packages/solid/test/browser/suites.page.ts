/** The suite of the bindings with Solid in a page. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { bindingSuite } from '../../../stores/testing/binding-suite.ts'
import { solidBinding } from '../binding.ts'

await runCases((test) => bindingSuite({ test, create: () => solidBinding }, 1000))
