/** Goal: Solid has each behaviour that all bindings share. Its reactivity needs no page. */
import { test } from 'vitest'
import { bindingSuite } from '../../stores/testing/binding-suite.ts'
import { waitingCases } from '../../stores/testing/waiting-cases.ts'
import { solidBinding } from './binding.ts'

bindingSuite({ test, create: () => solidBinding })
waitingCases({ test, create: () => solidBinding })
