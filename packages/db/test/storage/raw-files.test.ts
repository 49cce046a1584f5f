/** Goal: the file logic of OPFS keeps the contract, on files of a simulated disk. */
import { test } from 'vitest'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'

pageStoreSuite({ test, create: async () => ({ storage: new RawFileStorage(), name: 'database' }) })
