/**
 * The design documents of databases with their functions, cached by document and revision. A compiled function, and the
 * knowledge that it fails, live until its document changes. After `changed` nobody gets the documents of before.
 */
import { isObject } from 'pannier/internal'
import { createHash } from 'node:crypto'
import type { Collection, Database } from 'pannier'
import { DesignFunctionError } from '../sandbox/design-function-error.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { ServiceError } from '@pannier/backend'
import { collectionName, missing } from '@pannier/backend/internal'
import type { JsonObject, ReadableView } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { designFunctions, unknownReduce } from './functions.ts'
import type { DesignFunctions, DesignLog, DesignView, DesignViewDefinition } from './functions.ts'

export const DESIGN_PREFIX = '_design/'

/** A collection, by its name in the database of the server. */
export interface Named {
  readonly name: string
}

export interface FoundView {
  readonly collection: GuardedCollection
  readonly definition: DesignViewDefinition
  readonly view: ReadableView
}

export interface Design {
  readonly id: string
  readonly rev: string
  readonly document: JsonObject
  readonly functions: DesignFunctions
}

/** Names of views in the library are not longer. */
const NAME_CHARS_MAX = 200

export class DesignDocuments {
  readonly #database: Database
  readonly #sandbox: Sandbox
  readonly #log: DesignLog
  /** By name of the collection; missing when they may have changed. */
  readonly #designs = new Map<string, Promise<ReadonlyMap<string, Design>>>()
  /** The last known documents, by name of the collection. Unchanged revisions are kept. */
  readonly #before = new Map<string, ReadonlyMap<string, Design>>()
  readonly #stopListening: () => void

  constructor(database: Database, sandbox: Sandbox, log: DesignLog) {
    this.#database = database
    this.#sandbox = sandbox
    this.#log = log
    this.#stopListening = database.subscribe(({ collections }) => {
      for (const [name, { ids, dropped }] of collections) {
        if (dropped) this.#before.delete(name)
        if (dropped || ids === undefined || ids.some((id) => id.startsWith(DESIGN_PREFIX))) this.#designs.delete(name)
      }
    })
  }

  /** All design documents of a database, by id. */
  all({ name }: Named): Promise<ReadonlyMap<string, Design>> {
    const known = this.#designs.get(name)
    if (known !== undefined) return known
    const reading = this.#read(this.#database.collection<JsonObject>(name))
    this.#designs.set(name, reading)
    reading.catch(() => this.#designs.delete(name))
    return reading
  }

  /** `id` without `_design/`. @throws ServiceError NOT_FOUND */
  async get(collection: Named, id: string): Promise<Design> {
    const found = (await this.all(collection)).get(DESIGN_PREFIX + id)
    if (found !== undefined) return found
    throw missing('missing')
  }

  /** @throws ServiceError NOT_FOUND */
  async view(collection: GuardedCollection, id: string, name: string): Promise<FoundView> {
    const { functions } = await this.get(collection, id)
    const view = functions.views.get(name)
    if (view === undefined) throw missing('missing_named_view')
    if (view.unknownReduce !== undefined) throw noReduce(view.unknownReduce)
    const { definition } = view
    return { collection, definition, view: servedView(collection, DESIGN_PREFIX + id, name, view) }
  }

  /** Checks a document that is about to be written. @throws ServiceError INVALID */
  async check(document: JsonObject, what: 'all' | 'validation', database: string): Promise<void> {
    if (what === 'all') checkShape(document)
    else checkValidation(document)
    try {
      await designFunctions(document, this.#sandbox, `check ${database}`).check(what)
    } catch (error) {
      if (!(error instanceof DesignFunctionError) || error.kind === 'timeout' || error.kind === 'unavailable')
        throw error
      throw new ServiceError('COMPILATION_FAILED', error.message, { cause: error })
    }
  }

  /** The caller has written a design document, or dropped the database, and does not wait for the news of it. */
  changed(database: string): void {
    this.#designs.delete(collectionName(database))
  }

  /** Forgets what is stored for views that are not in the document any more. `next` undefined: it is deleted. */
  async dropViews({ name: collectionName }: Named, previous: JsonObject, next: JsonObject | undefined): Promise<void> {
    const collection = this.#database.collection<JsonObject>(collectionName)
    const kept = new Set(next === undefined ? [] : viewNames(next))
    for (const name of viewNames(previous)) {
      if (!kept.has(name)) await collection.view(storedName(String(previous['_id']), name), NOTHING).drop()
    }
  }

  close(): void {
    this.#stopListening()
  }

  async #read(collection: Collection<JsonObject>): Promise<ReadonlyMap<string, Design>> {
    const { epoch = '' } = await collection.info()
    const rows = await collection.list({ prefix: DESIGN_PREFIX, docs: true }).toArray()
    const before = this.#before.get(collection.name)
    const designs = new Map(
      rows.map(({ id, rev, doc }): [string, Design] => {
        const known = before?.get(id)
        if (known?.rev === rev) return [id, known]
        const document = doc as JsonObject
        return [id, { id, rev, document, functions: designFunctions(document, this.#sandbox, epoch, this.#log) }]
      }),
    )
    this.#before.set(collection.name, designs)
    return designs
  }
}

/** A view whose name alone matters. */
const NOTHING = { map: (): void => {} }

export function servedView(
  collection: GuardedCollection,
  designId: string,
  name: string,
  { definition }: DesignView,
): ReadableView {
  return collection.view(storedName(designId, name), definition)
}

function storedName(designId: string, name: string): string {
  const whole = `${designId}/_view/${name}`
  return whole.length <= NAME_CHARS_MAX ? whole : createHash('sha256').update(whole).digest('hex')
}

function viewNames({ views, language = 'javascript' }: JsonObject): string[] {
  return isObject(views) && language === 'javascript' ? Object.keys(views).filter((name) => name !== 'lib') : []
}

function checkValidation({ language = 'javascript', validate_doc_update: validate }: JsonObject): void {
  if (language === 'javascript' && validate !== undefined && typeof validate !== 'string')
    throw invalid('`validate_doc_update` must be a string')
}

/** CouchDB's rules for a design document. */
function checkShape(document: JsonObject): void {
  checkValidation(document)
  const { language = 'javascript', views, options, rewrites } = document
  checkKind('language', language, 'string')
  checkKind('rewrites', rewrites, 'string', 'array')
  checkKind('options', options, 'object')
  for (const name of ['include_design', 'local_seq', 'partitioned'])
    checkKind(`options.${name}`, (options as JsonObject | undefined)?.[name], 'boolean')
  for (const group of ['filters', 'lists', 'shows', 'updates']) {
    checkKind(group, document[group], 'object')
    // An object holds modules.
    for (const [name, one] of membersOf(document[group])) checkKind(`${group}.${name}`, one, 'object', 'string')
  }
  checkKind('views', views, 'object')
  for (const [name, view] of membersOf(views)) {
    checkKind(`views.${name}`, view, 'object')
    if (name === 'lib') continue
    const { map, reduce } = view as JsonObject
    if (map === undefined) throw invalid(`View \`${name}\` must contain map function`)
    checkKind(`views.${name}.map`, map, language === 'query' ? 'object' : 'string')
    checkKind(`views.${name}.reduce`, reduce, 'string')
    const unknown = language === 'javascript' ? unknownReduce(view as JsonObject) : undefined
    if (unknown !== undefined) throw noReduce(unknown)
  }
}

function membersOf(value: unknown): [string, unknown][] {
  return Object.entries((value ?? {}) as JsonObject)
}

/** A missing field passes. */
function checkKind(field: string, value: unknown, ...kinds: readonly string[]): void {
  const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  if (value !== undefined && !kinds.includes(kind))
    throw invalid(`\`${field}\` field must have ${kinds.join(' or ')} type`)
}

function noReduce(name: string): ServiceError {
  return invalid(`\`${name}\` is not a supported reduce function.`)
}

function invalid(reason: string): ServiceError {
  return new ServiceError('DESIGN_INVALID', reason)
}
