/** The suite of the bindings with Svelte in a page. */
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { bindingSuite } from '../../../stores/testing/binding-suite.ts'
import { svelteBinding } from '../binding.ts'

await runCases((test) => bindingSuite({ test, create: () => svelteBinding }, 1000))
