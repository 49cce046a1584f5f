/** The conformance suite of replication peers, over HTTP, with PouchDB behind express-pouchdb. */
import { test } from 'vitest'
import { systemEnvironment } from '../../../db/src/database/lifecycle/environment.ts'
import { HttpPeer } from '../../../db/src/replication/http/http-peer.ts'
import { replicationPeerSuite } from '../../../db/testing/conformance/replication-peer.ts'
import { pouchServer } from '../../testing/pouchdb-server.ts'

replicationPeerSuite({
  test,
  create: async () => {
    const server = await pouchServer()
    const peer = new HttpPeer(new URL(`${server.url}/docs`), {}, systemEnvironment())
    return { peer, close: () => server.close() }
  },
})
