/** Goal: JSONStore's API, row by row and code by code, in memory. */
import { memory } from 'pannier/memory'
import { test } from 'vitest'
import { jsonStoreSuite } from '../testing/suite.ts'

let stores = 0

jsonStoreSuite({ test, create: async () => ({ storage: memory(), name: `store${++stores}` }) })
