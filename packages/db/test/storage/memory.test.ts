import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'

pageStoreSuite({ test, create: async () => ({ storage: memory(), name: 'database' }) })
