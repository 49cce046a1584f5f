/** Changes of definitions, and what the server says about them. */
import type { Backend, ExplainedRules, RulePreview } from '@pannier/backend'
import type { Collection, Field, NewField, Rule } from './collections.ts'
import type { Row, Values } from './records.ts'
import { request, requestText } from './request.ts'

/** A change of a definition: parts that are left out stay. A field without an id is new. */
export type DefinitionChange = Partial<Omit<Collection, 'fields'>> & { readonly fields?: readonly NewField[] }

export function updateCollection(id: string, change: DefinitionChange): Promise<Collection> {
  return request('PATCH', pathOf(id), { body: change })
}

export function deleteCollection(id: string): Promise<void> {
  return request('DELETE', pathOf(id))
}

/** Deletes all its records. */
export function truncateCollection(id: string): Promise<void> {
  return request('DELETE', `${pathOf(id)}/truncate`)
}

/** Values of a field that a change loses, or that are no longer right. */
export type Misfit = Awaited<ReturnType<Backend['definitions']['check']>>[number]

export interface CheckedChange {
  readonly misfits: readonly Misfit[]
  /** The text of a migration file; null if nothing changes. */
  readonly migration: string | null
}

/** Reports the effects of a change. Nothing is changed. @throws ApiError what the server would refuse */
export function checkChange(id: string, change: DefinitionChange): Promise<CheckedChange> {
  return request('POST', `${pathOf(id)}/check`, { body: change })
}

/** Without `reports` they stay as they are. */
export function importCollections(
  { collections, reports }: { readonly collections: readonly unknown[]; readonly reports?: readonly unknown[] },
  deleteMissing: boolean,
): Promise<void> {
  return request('PUT', '/collections/import', { body: { collections, reports, deleteMissing } })
}

/** The definitions with which new collections of each type begin. */
export function loadScaffolds(): Promise<Readonly<Record<Collection['type'], Collection>>> {
  return request('GET', '/collections/meta/scaffolds')
}

export interface ViewSample {
  readonly fields: readonly Field[]
  readonly sample: readonly Row[]
}

export function tryViewQuery(query: string): Promise<ViewSample> {
  return request('POST', '/collections/meta/dry-run-view', { body: { query } })
}

export interface KnownProvider {
  readonly name: string
  readonly displayName: string
}

export function listProviders(): Promise<readonly KnownProvider[]> {
  return request('GET', '/collections/meta/oauth2-providers', { query: { fields: 'name,displayName' } })
}

/** `rule`: in place of the list rule, explained alone. */
export function explainRules(id: string, rule = '', signal?: AbortSignal): Promise<ExplainedRules> {
  return request('GET', `${pathOf(id)}/rules`, { query: { rule }, ...(signal !== undefined && { signal }) })
}

/** `auth`: which accounts log in. `manage`: whom an account manages. */
export type RuleAction = 'list' | 'view' | 'create' | 'update' | 'delete' | 'auth' | 'manage'

export interface PreviewQuestion {
  readonly action: RuleAction
  /** The rule is that of a field: of seeing it, or of setting it. */
  readonly field?: string
  /** In place of the stored one. */
  readonly rule: Rule
  /** Null: a guest. */
  readonly account: { readonly collection: string; readonly record: string } | null
  /** The values of a write. */
  readonly body?: Values
  /** One record, which is explained. */
  readonly record?: string
  readonly filter?: string
  readonly page?: number
  readonly perPage?: number
}

export function previewRule(id: string, question: PreviewQuestion, signal?: AbortSignal): Promise<RulePreview> {
  return request('POST', `${pathOf(id)}/preview`, { body: question, ...(signal !== undefined && { signal }) })
}

interface ExplainedList {
  readonly plan: { readonly cost: number; readonly rows: number; readonly suggestion?: unknown }
}

/** How a list of superusers is answered. */
export function explainList(
  id: string,
  query: { readonly filter: string; readonly sort: string },
): Promise<ExplainedList> {
  return request('GET', `${pathOf(id)}/explain`, { query })
}

interface LoggedRequest {
  readonly data: { readonly url: string; readonly execTime: number }
}

/** The newest lists of a collection that the logs have. */
export async function listLoggedLists(name: string, count: number): Promise<readonly LoggedRequest[]> {
  const filter = `data.method = "GET" && data.status = 200 && data.url ~ "/api/collections/${name}/records?"`
  const query = { filter, sort: '-created', perPage: count, skipTotal: true }
  return (await request<{ items: readonly LoggedRequest[] }>('GET', '/logs', { query })).items
}

interface AppleKey {
  readonly clientId: string
  readonly teamId: string
  readonly keyId: string
  /** The private key in PEM. */
  readonly privateKey: string
  /** The duration in seconds. */
  readonly duration: number
}

/** The client secret of logins by Apple. @throws ApiError with what is wrong */
export async function makeAppleSecret(key: AppleKey): Promise<string> {
  const path = '/settings/apple/generate-client-secret'
  return (await request<{ secret: string }>('POST', path, { body: key })).secret
}

/** TypeScript types of all collections. */
export function loadTypes(): Promise<string> {
  return requestText('GET', '/types.d.ts')
}

function pathOf(id: string): string {
  return `/collections/${encodeURIComponent(id)}`
}
