/** `/{db}` itself, and the settings of a database. */
import { REVISIONS_LIMIT_MAX } from 'pannier/limits'
import { checkEffect, checkSecurity, DEFAULT_SECURITY } from '../auth/permissions.ts'
import type { DatabaseRoute } from '../http/declarations.ts'
import { asBadRequest, badRequest, HttpError } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJson, readJsonObject } from '../http/request-body.ts'
import type { CollectionAdministration } from '@pannier/backend'
import { jsonLimits } from './server-context.ts'
import { withDocument } from './document-bodies.ts'
import { checkDocument, checkRevision } from './document-input.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { databaseInfo } from './server-routes.ts'
import { writeDocument } from './write-documents.ts'

const DONE = { ok: true }
const PURGED_DOCUMENTS_MAX = 1000

export const databaseRoutes: Routes = (app, context) => {
  const { gateway, updates } = context
  app.get<DatabaseRoute>('/:db', { config: { needs: 'member' } }, ({ principal, params }) =>
    databaseInfo(context, principal, params.db),
  )
  app.put<DatabaseRoute>(
    '/:db',
    { config: { needs: 'server-admin' } },
    async ({ principal, params: { db } }, reply) => {
      await gateway.create(principal, db)
      updates.created(db)
      return reply
        .code(201)
        .header('location', `/${encodeURIComponent(db)}`)
        .send(DONE)
    },
  )
  app.delete<DatabaseRoute>('/:db', { config: { needs: 'server-admin' } }, async (request) => {
    if (new QueryParameters(request).has('rev')) {
      throw badRequest(
        'You tried to DELETE a database with a ?rev= parameter. Did you mean to DELETE a document instead?',
      )
    }
    const { principal } = request
    const { db } = request.params
    const collection = await gateway.collection(principal, db)
    await gateway.drop(principal, db)
    context.designs.changed(db)
    context.indexes.changed(collection)
    updates.deleted(db)
    return DONE
  })
  app.post<DatabaseRoute>('/:db', { config: { needs: 'member' } }, async (request, reply) => {
    const { db: database } = request.params
    await gateway.collection(request.principal, database)
    const status = new QueryParameters(request).text('batch') === 'ok' ? 202 : 201
    return withDocument(context, request, async (body) => {
      const document = checkDocument(body, true)
      const { id, rev } = await writeDocument(context, { request, database, document, newEdits: true })
      const location = `/${encodeURIComponent(database)}/${encodeURIComponent(id.toWellFormed())}`
      reply.code(status).header('location', location)
      return { ok: true, id, rev }
    })
  })
  upkeepRoutes(app, context)
  settingsRoutes(app, context)
  purgeRoutes(app, context)
}

const upkeepRoutes: Routes = (app, context) => {
  const { gateway } = context
  app.post<DatabaseRoute>(
    '/:db/_compact',
    { config: { needs: 'database-admin' } },
    async ({ principal, params, log }, reply) => {
      const administration = await gateway.administration(principal, params.db)
      compact(context, administration).catch((error: unknown) => log.error({ err: error }, 'a compaction has failed'))
      return reply.code(202).send(DONE)
    },
  )
  app.post<DatabaseRoute>(
    '/:db/_compact/:ddoc',
    { config: { needs: 'database-admin' } },
    async ({ principal, params }, reply) => {
      await gateway.administration(principal, params.db)
      return reply.code(202).send(DONE)
    },
  )
  app.post<DatabaseRoute>(
    '/:db/_view_cleanup',
    { config: { needs: 'database-admin' } },
    async ({ principal, params }, reply) => {
      await context.indexes.settled(await gateway.administration(principal, params.db))
      return reply.code(202).send(DONE)
    },
  )
  app.post<DatabaseRoute>(
    '/:db/_ensure_full_commit',
    { config: { needs: 'member' } },
    async ({ principal, params }, reply) => {
      // Does nothing more: answered writes are already as durable as `durability` promises. A replication sends this
      // before each replication checkpoint.
      await gateway.collection(principal, params.db)
      return reply.code(201).send({ ok: true, instance_start_time: '0' })
    },
  )
}

/** Unseen by the client but in `_active_tasks` and `compact_running`. */
async function compact({ tasks }: ServerContext, administration: CollectionAdministration): Promise<void> {
  const task = tasks.start('database_compaction', { database: administration.name, progress: 0 })
  try {
    await administration.compact()
  } finally {
    task.end()
  }
}

const settingsRoutes: Routes = (app, context) => {
  const { gateway } = context
  app.get<DatabaseRoute>('/:db/_revs_limit', { config: { needs: 'member' } }, async ({ principal, params }, reply) => {
    const { revisionsLimit } = await (await gateway.collection(principal, params.db)).info()
    return reply.header('content-type', 'application/json').send(`${revisionsLimit}\n`)
  })
  app.put<DatabaseRoute>('/:db/_revs_limit', { config: { needs: 'database-admin' } }, async (request) => {
    const limit = await readJson(request, jsonLimits(context))
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > REVISIONS_LIMIT_MAX)
      throw badRequest(`\`rev_limit\` must be a whole number from 1 to ${REVISIONS_LIMIT_MAX}`)
    await (await gateway.administration(request.principal, request.params.db)).setRevisionsLimit(limit)
    return DONE
  })
  app.get<DatabaseRoute>(
    '/:db/_pannier/history',
    { config: { needs: 'member' } },
    async ({ principal, params }, reply) => {
      const { history } = await (await gateway.collection(principal, params.db)).info()
      return reply.header('content-type', 'application/json').send(`${history}\n`)
    },
  )
  app.put<DatabaseRoute>('/:db/_pannier/history', { config: { needs: 'database-admin' } }, async (request) => {
    const history = await readJson(request, jsonLimits(context))
    if (typeof history !== 'boolean') throw badRequest('The body must be true or false.')
    await (await gateway.administration(request.principal, request.params.db)).setHistory(history)
    return DONE
  })
  app.get<DatabaseRoute>('/:db/_security', { config: { needs: 'member' } }, async ({ principal, params }) => {
    return (await (await gateway.collection(principal, params.db)).security()) ?? DEFAULT_SECURITY
  })
  app.put<DatabaseRoute>('/:db/_security', { config: { needs: 'database-admin' } }, async (request) => {
    const { db } = request.params
    await gateway.administration(request.principal, db)
    const security = checkSecurity(await readJsonObject(request, jsonLimits(context)))
    checkEffect(db, security)
    await (await gateway.administration(request.principal, db)).setSecurity(security)
    return DONE
  })
}

const purgeRoutes: Routes = (app, context) => {
  const { gateway } = context
  app.post<DatabaseRoute>('/:db/_purge', { config: { needs: 'server-admin' } }, async (request, reply) => {
    const wanted = Object.entries(await readJsonObject(request, jsonLimits(context)))
    if (wanted.length > PURGED_DOCUMENTS_MAX)
      throw new HttpError(413, 'too_large', `At most ${PURGED_DOCUMENTS_MAX} documents are purged at once.`)
    for (const [id, revs] of wanted) {
      if (!Array.isArray(revs)) throw badRequest(`The revisions of '${id.slice(0, 80)}' must be an array`)
      revs.forEach(checkRevision)
    }
    const { db } = request.params
    const administration = await gateway.administration(request.principal, db)
    const purged: [string, readonly string[]][] = []
    for (const [id, revs] of wanted)
      purged.push([id, await asBadRequest(() => administration.purge(id, revs as string[]))])
    context.designs.changed(db)
    return reply.code(201).send({ purge_seq: null, purged: Object.fromEntries(purged) })
  })
  app.get<DatabaseRoute>(
    '/:db/_purged_infos_limit',
    { config: { needs: 'member' } },
    async ({ principal, params }, reply) => {
      await gateway.collection(principal, params.db)
      return reply.header('content-type', 'application/json').send('1000\n')
    },
  )
}
