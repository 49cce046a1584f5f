/** Goal: components of Svelte show the tabs of an app. */
import { test } from 'vitest'
import { tabsCases } from '../../stores/testing/tabs-cases.ts'
import { svelteBinding } from './binding.ts'

tabsCases({ test, create: () => svelteBinding })
