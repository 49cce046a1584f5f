/** Goal: Svelte has each behaviour that all bindings share. Its reactivity needs no page. */
import { test } from 'vitest'
import { bindingSuite } from '../../stores/testing/binding-suite.ts'
import { waitingCases } from '../../stores/testing/waiting-cases.ts'
import { svelteBinding } from './binding.ts'

bindingSuite({ test, create: () => svelteBinding })
waitingCases({ test, create: () => svelteBinding })
