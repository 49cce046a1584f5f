/**
 * `/{db}/_pannier/snapshot`: the whole database as a replica file (docs/internals/replication.md), for a replica's
 * first replication.
 */
import type { DatabaseRoute } from '../http/declarations.ts'
import { sendPieces } from '../http/streamed-reply.ts'
import type { Routes } from './server-context.ts'
import { SnapshotCache } from './snapshot-cache.ts'

const CONTENT_TYPE = 'application/x-ndjson'

export const snapshotRoutes: Routes = (app, { gateway, auth, closing }) => {
  const cache = new SnapshotCache()
  app.get<DatabaseRoute>(
    '/:db/_pannier/snapshot',
    { config: { needs: 'member' }, exposeHeadRoute: false },
    async (request, reply) => {
      const { db } = request.params
      const collection = await gateway.collection(request.principal, db)
      return sendPieces(reply, CONTENT_TYPE, async function* (gone) {
        const ending = new AbortController()
        const stopWatching = auth.whileAllowed(request, 'member', db, (error) => ending.abort(error))
        try {
          // A file that is cut off lacks its last line, so nobody mistakes it for a whole one.
          const signal = AbortSignal.any([gone, ending.signal, closing])
          yield* cache.read(collection, signal)
        } finally {
          stopWatching()
        }
      })
    },
  )
}
