/** Goal: components of Solid show the tabs of an app. */
import { test } from 'vitest'
import { tabsCases } from '../../stores/testing/tabs-cases.ts'
import { solidBinding } from './binding.ts'

tabsCases({ test, create: () => solidBinding })
