/** The conformance suite of replication peers, over a collection. */
import { test } from 'vitest'
import { LocalPeer } from '../../src/database/local-peer.ts'
import type { LocalCollection } from '../../src/database/local-peer.ts'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { replicationPeerSuite } from '../../testing/conformance/replication-peer.ts'

replicationPeerSuite({
  test,
  create: async () => {
    const db = await open('x', { storage: memory() })
    const collection = db.collection('docs') as unknown as LocalCollection
    return { peer: new LocalPeer(collection), close: () => db.close() }
  },
})
