/** CouchDB's door, where superusers are admins: databases, documents, views, replications. Collections are databases there too. */
import { couchFile, couchRequest } from './request.ts'

export interface DatabaseInfo {
  readonly db_name: string
  readonly doc_count: number
  readonly doc_del_count: number
  readonly update_seq: string
  readonly compact_running: boolean
  readonly sizes: { readonly file: number }
}

/** A document, as JSON. */
export type Document = Readonly<Record<string, unknown>> & { readonly _id: string; readonly _rev: string }

export interface ViewRow {
  readonly id?: string
  readonly key: unknown
  readonly value: unknown
  readonly doc?: Document | null
}

interface ViewResult {
  /** The number of rows in all; not with a reduction. */
  readonly total_rows?: number
  readonly rows: readonly ViewRow[]
}

export interface MangoIndex {
  /** null: it is always there. */
  readonly ddoc: string | null
  readonly name: string
  readonly type: string
  readonly def: { readonly fields: readonly Readonly<Record<string, string>>[] }
}

export interface FindResult {
  readonly docs: readonly Document[]
  readonly warning?: string
  readonly execution_stats?: { readonly total_docs_examined: number; readonly execution_time_ms: number }
}

/** A step of a plan, with the step that gives it its rows. */
export interface PlanStep {
  readonly step: string
  readonly input?: PlanStep
  readonly inputs?: readonly PlanStep[]
  readonly [fact: string]: unknown
}

type IndexInput = string | readonly string[] | { readonly on: string | readonly string[] }

/** The fields of an index that the server suggests. */
export function suggestedFields(suggestion: IndexInput): readonly string[] {
  if (typeof suggestion === 'string') return [suggestion]
  return 'on' in suggestion ? suggestedFields(suggestion.on) : suggestion
}

export interface Plan {
  readonly plan: PlanStep
  readonly rows: number
  readonly rowsExact: boolean
  readonly sortedByIndex: boolean
  readonly covering: boolean
  readonly cost: number
  /** An index that would answer it faster: a field, fields, or these as `on` with options. */
  readonly suggestion?: IndexInput
}

export interface Replication {
  /** The id of its document in `_replicator`; null if it was started without one. */
  readonly doc_id: string | null
  readonly id: string
  readonly source: string
  readonly target: string
  readonly state: string
  readonly info: Readonly<Record<string, unknown>> | null
  readonly error_count: number
  readonly start_time: string
  readonly last_updated: string
}

interface NewReplication {
  readonly source: string
  readonly target: string
  readonly continuous: boolean
  readonly create_target: boolean
}

interface Task {
  readonly type: string
  readonly database?: string
  readonly progress?: number
}

const name = encodeURIComponent

export async function listDatabases(signal: AbortSignal): Promise<readonly DatabaseInfo[]> {
  const all = await couchRequest<{ info?: DatabaseInfo }[]>('GET', '/_dbs_info', { signal })
  return all.flatMap(({ info }) => (info === undefined ? [] : [info]))
}

export function createDatabase(database: string): Promise<unknown> {
  return couchRequest('PUT', `/${name(database)}`)
}

export function deleteDatabase(database: string): Promise<unknown> {
  return couchRequest('DELETE', `/${name(database)}`)
}

/** Begins to compact a database, and does not wait for its end. */
export function compactDatabase(database: string): Promise<unknown> {
  return couchRequest('POST', `/${name(database)}/_compact`, { body: {} })
}

export function listTasks(signal: AbortSignal): Promise<readonly Task[]> {
  return couchRequest('GET', '/_active_tasks', { signal })
}

/** In the order of their ids, from one on. */
export function listDocuments(database: string, from: string, limit: number, signal: AbortSignal): Promise<ViewResult> {
  const query = { include_docs: true, limit, ...(from !== '' && { startkey: JSON.stringify(from) }) }
  return couchRequest('GET', `/${name(database)}/_all_docs`, { query, signal })
}

export async function listDesigns(database: string, signal: AbortSignal): Promise<readonly Document[]> {
  const query = { include_docs: true }
  const { rows } = await couchRequest<ViewResult>('GET', `/${name(database)}/_design_docs`, { query, signal })
  return rows.flatMap(({ doc }) => (doc === undefined || doc === null ? [] : [doc]))
}

export function readDocument(database: string, id: string, signal: AbortSignal): Promise<Document> {
  return couchRequest('GET', `/${name(database)}/${pathOf(id)}`, { query: { conflicts: true }, signal })
}

export interface Revisions {
  /** The winner, without what CouchDB adds. */
  readonly document: Document
  /** Leaf revisions beside it. */
  readonly conflicts: readonly string[]
  /** Revisions of the history, the newest first. What was replaced is there if the database keeps history. */
  readonly history: readonly { readonly rev: string; readonly status: string }[]
}

export async function readRevisions(database: string, id: string, signal: AbortSignal): Promise<Revisions> {
  const query = { conflicts: true, revs_info: true }
  const {
    _conflicts = [],
    _revs_info: history = [],
    ...document
  } = await couchRequest<
    Document & { readonly _conflicts?: readonly string[]; readonly _revs_info?: Revisions['history'] }
  >('GET', `/${name(database)}/${pathOf(id)}`, { query, signal })
  return { document: document as Document, conflicts: _conflicts, history }
}

export function readRevision(database: string, id: string, rev: string, signal: AbortSignal): Promise<Document> {
  return couchRequest('GET', `/${name(database)}/${pathOf(id)}`, { query: { rev }, signal })
}

/** @throws ApiError 409 if somebody has changed it since */
export function saveDocument(database: string, document: Readonly<Record<string, unknown>>): Promise<unknown> {
  return couchRequest('PUT', `/${name(database)}/${pathOf(String(document['_id']))}`, { body: document })
}

export function deleteDocument(database: string, { _id, _rev }: Document): Promise<unknown> {
  return couchRequest('DELETE', `/${name(database)}/${pathOf(_id)}`, { query: { rev: _rev } })
}

/** Deletes documents of a list, each by the revision that it has shown. Returns the ids of those that somebody has changed since. */
export async function deleteDocuments(database: string, documents: readonly Document[]): Promise<readonly string[]> {
  const docs = documents.map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
  const path = `/${name(database)}/_bulk_docs`
  const rows = await couchRequest<readonly { id: string; error?: string }[]>('POST', path, { body: { docs } })
  return rows.filter(({ error }) => error !== undefined).map(({ id }) => id)
}

/** An attachment, as its document names it. */
interface Attachment {
  readonly content_type: string
  readonly length: number
}

export function attachmentsOf(document: Document): readonly (readonly [name: string, Attachment])[] {
  return Object.entries((document['_attachments'] ?? {}) as Readonly<Record<string, Attachment>>)
}

export function readAttachment(database: string, id: string, attachment: string): Promise<Blob> {
  return couchFile(attachmentPath(database, id, attachment))
}

/** Takes the place of one of the same name. @throws ApiError 409 if somebody has changed the document since */
export function saveAttachment(database: string, { _id, _rev }: Document, file: File): Promise<unknown> {
  const headers = { 'content-type': file.type === '' ? 'application/octet-stream' : file.type }
  return couchRequest('PUT', attachmentPath(database, _id, file.name), { query: { rev: _rev }, body: file, headers })
}

export function deleteAttachment(database: string, { _id, _rev }: Document, attachment: string): Promise<unknown> {
  return couchRequest('DELETE', attachmentPath(database, _id, attachment), { query: { rev: _rev } })
}

function attachmentPath(database: string, id: string, attachment: string): string {
  return `/${name(database)}/${pathOf(id)}/${attachment.split('/').map(name).join('/')}`
}

/** The admins and the members of a database: users by name or by role. Members read and write its documents. */
export interface Security {
  readonly admins: Grants
  readonly members: Grants
}

interface Grants {
  readonly names: readonly string[]
  readonly roles: readonly string[]
}

export async function readSecurity(database: string, signal: AbortSignal): Promise<Security> {
  const { admins, members } = await couchRequest<Partial<Record<keyof Security, Partial<Grants>>>>(
    'GET',
    `/${name(database)}/_security`,
    { signal },
  )
  return { admins: { ...NOBODY, ...admins }, members: { ...NOBODY, ...members } }
}

const NOBODY: Grants = { names: [], roles: [] }

export function saveSecurity(database: string, security: Security): Promise<unknown> {
  return couchRequest('PUT', `/${name(database)}/_security`, { body: security })
}

/** The newest change of a document. */
export interface Change {
  readonly seq: string
  readonly id: string
  readonly deleted?: boolean
  /** The leaf revisions of the document, the winner first. Those beside it are conflicts, or ends of branches that were deleted. */
  readonly changes: readonly { readonly rev: string }[]
}

export interface ChangeFeed {
  readonly results: readonly Change[]
  readonly last_seq: string
  /** Changes that come behind these. */
  readonly pending?: number
}

interface ChangesQuery {
  readonly since?: string
  readonly limit?: number
  readonly descending?: boolean
  /** The feed that waits for a change. */
  readonly feed?: 'longpoll'
}

/** `only`: of the document with this id; '' all. */
export function listChanges(
  database: string,
  only: string,
  query: ChangesQuery,
  signal: AbortSignal,
): Promise<ChangeFeed> {
  const asked = { ...query, style: 'all_docs', ...(only !== '' && { filter: '_doc_ids' }) }
  const body = only === '' ? {} : { doc_ids: [only] }
  return couchRequest('POST', `/${name(database)}/_changes`, { query: asked, body, signal })
}

/** Values by section and key. They are those of the server's start. */
type Configuration = Readonly<Record<string, Readonly<Record<string, string>>>>

export function readConfiguration(signal: AbortSignal): Promise<Configuration> {
  return couchRequest('GET', '/_node/_local/_config', { signal })
}

/** An admin of CouchDB's door, who is no account of the application. */
export function saveCouchAdmin(admin: string, password: string): Promise<unknown> {
  return couchRequest('PUT', `/_node/_local/_config/admins/${name(admin)}`, { body: password })
}

export function deleteCouchAdmin(admin: string): Promise<unknown> {
  return couchRequest('DELETE', `/_node/_local/_config/admins/${name(admin)}`)
}

export function runView(
  database: string,
  design: string,
  view: string,
  query: Readonly<Record<string, string | number | boolean>>,
  signal: AbortSignal,
): Promise<ViewResult> {
  return couchRequest('GET', `/${name(database)}/${pathOf(design)}/_view/${name(view)}`, { query, signal })
}

export async function listIndexes(database: string, signal: AbortSignal): Promise<readonly MangoIndex[]> {
  const { indexes } = await couchRequest<{ indexes: readonly MangoIndex[] }>('GET', `/${name(database)}/_index`, {
    signal,
  })
  return indexes
}

export function createIndex(database: string, fields: readonly string[]): Promise<unknown> {
  return couchRequest('POST', `/${name(database)}/_index`, { body: { index: { fields }, type: 'json' } })
}

export function deleteIndex(database: string, { ddoc, name: index }: MangoIndex): Promise<unknown> {
  return couchRequest('DELETE', `/${name(database)}/_index/${pathOf(ddoc ?? '')}/json/${name(index)}`)
}

/** A query of Mango: `{ selector, sort, fields, limit }`. */
export function find(database: string, query: Readonly<Record<string, unknown>>): Promise<FindResult> {
  return couchRequest('POST', `/${name(database)}/_find`, { body: { ...query, execution_stats: true } })
}

export async function explainFind(database: string, query: Readonly<Record<string, unknown>>): Promise<Plan> {
  const { pannier } = await couchRequest<{ pannier: Plan }>('POST', `/${name(database)}/_explain`, { body: query })
  return pannier
}

/** Replications with a document, then replications without. */
export async function listReplications(signal: AbortSignal): Promise<readonly Replication[]> {
  const query = { limit: 1000 }
  const [{ docs }, { jobs }] = await Promise.all([
    couchRequest<{ docs: readonly Replication[] }>('GET', '/_scheduler/docs', { query, signal }),
    couchRequest<{ jobs: readonly Replication[] }>('GET', '/_scheduler/jobs', { query, signal }),
  ])
  const others = jobs.filter(({ doc_id }) => doc_id === null || doc_id === undefined)
  return [...docs, ...others.map((job) => ({ ...job, doc_id: null, state: 'running', error_count: 0 }))]
}

/** Starts a replication by a document, which the server names. */
export function makeReplication(replication: NewReplication): Promise<unknown> {
  return couchRequest('POST', '/_replicator', { body: replication })
}

export async function cancelReplication({ doc_id, id }: Replication): Promise<void> {
  if (doc_id === null) await couchRequest('POST', '/_replicate', { body: { replication_id: id, cancel: true } })
  else {
    const document = await couchRequest<Document>('GET', `/_replicator/${pathOf(doc_id)}`)
    await deleteDocument('_replicator', document)
  }
}

/** The slash of design documents stays. */
function pathOf(id: string): string {
  const [, kind, rest] = /^(_design|_local)\/(.*)$/s.exec(id) ?? []
  return kind === undefined ? name(id) : `${kind}/${name(rest!)}`
}
