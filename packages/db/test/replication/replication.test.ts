/** The suite of replication, over memory; in browsers it runs over IndexedDB. */
import { test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { replicationSuite } from '../../testing/conformance/replication.ts'

replicationSuite({ test, create: () => open('x', { storage: memory() }) })
