/** A database as one download, for a first replication: a replica file (docs/replication.md). */
import { sendPieces } from '../http/streamed-reply.ts'
import type { Routes } from './server-context.ts'

interface Database {
  Params: { readonly db: string }
}

export const snapshotRoutes: Routes = (app, context) => {
  context.features.add('pannier-snapshot')
  app.get<Database>('/:db/_pannier/snapshot', { config: { needs: 'member' } }, async ({ params }, reply) => {
    const collection = await context.databases.get(params.db)
    return sendPieces(reply, 'application/x-ndjson', (signal) => collection.export({ format: 'replica', signal }))
  })
}
