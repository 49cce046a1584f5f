/** The suite of the bindings with Svelte in a page. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { pageSuite } from '../../../stores/testing/binding-suite.ts'
import { svelteBinding } from '../binding.ts'

await runCases((test) => pageSuite({ test, create: () => svelteBinding }))
