/**
 * A `fetch` that answers like a CouchDB server, from collections of a database, as far as replication needs it. So the
 * HTTP side of replication runs in browsers too. The server's tests use real servers.
 */
import type { Collection } from '../src/database/collection/collection.ts'
import type { Database } from '../src/database/database.ts'
import type { JsonObject } from '../src/database/collection/document-types.ts'
import type { DocumentChange } from '../src/document/document-reader.ts'
import { fromCouchDocument, toCouchDocument } from '../src/document/attachments/couch-attachments.ts'
import type { FetchFunction } from '../src/replication/http/http-client.ts'

export interface CouchFetchOptions {
  /** `features` of the root: 'pannier-snapshot-2' offers snapshots. */
  readonly features?: readonly string[]
  /** Tells one start of the server from another. */
  readonly instance?: string
  /** Replaces an answer, or gives undefined. */
  readonly intercept?: (path: string, init: RequestInit) => Response | undefined | Promise<Response | undefined>
}

type Docs = Collection<JsonObject>
type Body = Record<string, unknown>

/** Serves `https://couch.test/NAME`. */
export function couchFetch(
  db: Database,
  { features = [], instance, intercept }: CouchFetchOptions = {},
): FetchFunction {
  const serve: FetchFunction = async (url, init) => {
    const { pathname, searchParams } = new URL(url)
    const [, name = '', ...rest] = pathname.split('/').map(decodeURIComponent)
    const path = rest.join('/')
    const replaced = await intercept?.(path, init)
    if (replaced !== undefined) return replaced
    init.signal?.throwIfAborted()
    if (name === '') return json(200, { couchdb: 'Welcome', uuid: 'test', features })
    const docs = db.collection<JsonObject>(name)
    const exists = (await db.collections()).includes(name)
    if (!exists && init.method !== 'PUT') return json(404, { error: 'not_found', reason: 'no_db_file' })
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Body) : {}
    if (path === '' && init.method === 'PUT') {
      return docs.local.put({ _id: 'made' }).then(
        () => json(201, { ok: true }),
        () => json(412, { error: 'file_exists', reason: 'The database could not be created.' }),
      )
    }
    if (path === '') return json(200, { db_name: name, update_seq: (await docs.info()).lastSeq })
    if (path.startsWith('_design/')) {
      const design = await docs.get(path)
      return design === undefined ? json(404, { error: 'not_found', reason: 'missing' }) : json(200, design)
    }
    if (path.startsWith('_local/')) return local(docs, path, init.method, body)
    if (path === '_pannier/snapshot') return new Response(docs.export({ format: 'replica' }))
    return answer(docs, path, searchParams, body, init.signal ?? undefined)
  }
  return async (url, init) => {
    const response = await serve(url, init)
    if (instance !== undefined) response.headers.set('pannier-instance', instance)
    return response
  }
}

async function answer(
  docs: Docs,
  path: string,
  query: URLSearchParams,
  body: Body,
  signal: AbortSignal | undefined,
): Promise<Response> {
  switch (path) {
    case '_changes':
      return changes(docs, query, body, signal)
    case '_revs_diff':
      return json(200, await docs.revsDiff(body as Record<string, string[]>))
    case '_bulk_get': {
      const inline = query.get('attachments') === 'true'
      const asked = body['docs'] as { id: string; rev: string }[]
      const found = await docs.bulkGet(asked, {
        revs: true,
        latest: true,
        ...(inline && { attachments: 'base64' as const }),
      })
      const results = found.map((one) => ({
        id: one.id,
        docs: [
          'ok' in one
            ? { ok: toCouchDocument(one.ok) }
            : { error: { error: 'not_found', reason: 'missing', rev: one.missing } },
        ],
      }))
      return json(200, { results })
    }
    case '_bulk_docs':
      await docs.put((body['docs'] as JsonObject[]).map(fromCouchDocument), { newEdits: false })
      return json(201, [])
    default: {
      const [id, ...name] = path.split('/')
      const attachment = await docs.getAttachment(id!, name.join('/'), { rev: query.get('rev')! })
      return attachment === undefined ? json(404, { error: 'not_found' }) : new Response(attachment.stream())
    }
  }
}

async function changes(
  docs: Docs,
  query: URLSearchParams,
  body: Body,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const { epoch } = await docs.info()
  const [since, sinceEpoch] = query.get('since')!.split('-')
  const options = {
    since: sinceEpoch === epoch ? Number(since) : 0,
    limit: Number(query.get('limit')),
    style: query.get('style') === 'all_docs' ? ('all' as const) : ('winner' as const),
    docs: query.get('include_docs') === 'true',
    ...(body['doc_ids'] === undefined ? {} : { ids: body['doc_ids'] as string[] }),
    ...(body['selector'] === undefined ? {} : { selector: body['selector'] as JsonObject }),
    ...(signal === undefined ? {} : { signal }),
  }
  if (query.get('feed') === 'longpoll') {
    const feed = docs.changes({ ...options, live: true })
    for await (const rows of feed.batches())
      return json(200, { results: rows.map(toRow), last_seq: `${feed.lastSeq}-${epoch}` })
  }
  const { changes: rows, lastSeq, pending } = await docs.changes(options).page()
  return json(200, { results: rows.map(toRow), last_seq: `${lastSeq}-${epoch}`, pending })
}

function toRow(change: DocumentChange<object>): object {
  return change.doc === undefined ? change : { ...change, doc: toCouchDocument(change.doc) }
}

async function local(docs: Docs, id: string, method: string | undefined, body: Body): Promise<Response> {
  if (method !== 'PUT') {
    const found = await docs.local.get(id)
    return found === undefined ? json(404, { error: 'not_found', reason: 'missing' }) : json(200, found)
  }
  return docs.local.put({ ...body, _id: id }).then(
    (written) => json(201, { ok: true, ...written }),
    () => json(409, { error: 'conflict', reason: 'Document update conflict.' }),
  )
}

function json(status: number, value: unknown): Response {
  return new Response(`${JSON.stringify(value)}\n`, { status, headers: { 'content-type': 'application/json' } })
}
