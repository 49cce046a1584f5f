/** The conformance suite of replication peers, over a collection. */
import { test } from 'vitest'
import { LocalPeer } from '../../src/database/replication/local-peer.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { replicationPeerSuite } from '../../testing/conformance/replication-peer.ts'

replicationPeerSuite({
  test,
  create: async () => {
    const db = await open('x', { storage: memory() })
    return { peer: new LocalPeer(db.collection<JsonObject>('docs')), close: () => db.close() }
  },
})
