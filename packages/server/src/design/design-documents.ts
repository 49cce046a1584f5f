/**
 * The design documents of databases, with what their functions are. Kept by document and revision, so that what was compiled, and what
 * is known of a function that fails, stays until the document changes. After `changed` nobody is given what was there before.
 */
import { createHash } from 'node:crypto'
import type { Collection, Database, View } from 'pannier'
import { HttpError, notFound } from '../http/http-error.ts'
import { isJsonObject, type JsonObject } from '../http/request-body.ts'
import { DesignFunctionError } from '../sandbox/design-function-error.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { designFunctions, unknownReduce, type DesignFunctions, type DesignLog, type DesignView } from './functions.ts'

export const DESIGN_PREFIX = '_design/'

export type ServedView = View<unknown, unknown, unknown, unknown>

export interface Design {
  readonly id: string
  readonly rev: string
  readonly document: JsonObject
  readonly functions: DesignFunctions
}

/** Names of views in the library are not longer. */
const NAME_CHARS_MAX = 200

export class DesignDocuments {
  readonly #sandbox: Sandbox
  readonly #log: DesignLog
  /** By name of the collection; missing when they may have changed. */
  readonly #designs = new Map<string, Promise<ReadonlyMap<string, Design>>>()
  /** What was read before, by name of the collection: what has its revision still is taken over. */
  readonly #before = new Map<string, ReadonlyMap<string, Design>>()
  readonly #stopListening: () => void

  constructor(database: Database, sandbox: Sandbox, log: DesignLog) {
    this.#sandbox = sandbox
    this.#log = log
    this.#stopListening = database.onChange(({ collections }) => {
      for (const [name, { ids, dropped }] of collections) {
        if (dropped) this.#before.delete(name)
        if (dropped || ids === undefined || ids.some((id) => id.startsWith(DESIGN_PREFIX))) this.#designs.delete(name)
      }
    })
  }

  /** All of a database, by id. */
  all(collection: Collection<JsonObject>): Promise<ReadonlyMap<string, Design>> {
    const { name } = collection
    const known = this.#designs.get(name)
    if (known !== undefined) return known
    const reading = this.#read(collection)
    this.#designs.set(name, reading)
    reading.catch(() => this.#designs.delete(name))
    return reading
  }

  /** `id` without `_design/`. @throws HttpError 404 */
  async get(collection: Collection<JsonObject>, id: string): Promise<Design> {
    const found = (await this.all(collection)).get(DESIGN_PREFIX + id)
    if (found !== undefined) return found
    throw notFound('missing')
  }

  /** @throws HttpError 404 */
  async view(collection: Collection<JsonObject>, id: string, name: string): Promise<ServedView> {
    const { functions } = await this.get(collection, id)
    const view = functions.views.get(name)
    if (view === undefined) throw notFound('missing_named_view')
    if (view.unknownReduce !== undefined) throw noReduce(view.unknownReduce)
    return servedView(collection, DESIGN_PREFIX + id, name, view)
  }

  /** Checks a document that is about to be written. @throws HttpError 400 */
  async check(document: JsonObject, what: 'all' | 'validation', database: string): Promise<void> {
    if (what === 'all') checkShape(document)
    else checkValidation(document)
    try {
      await designFunctions(document, this.#sandbox, `check ${database}`).check(what)
    } catch (error) {
      if (!(error instanceof DesignFunctionError) || error.kind === 'timeout' || error.kind === 'unavailable')
        throw error
      throw new HttpError(400, 'compilation_error', error.message, { cause: error })
    }
  }

  /** The caller has written a design document, or dropped the database, and does not wait for the news of it. */
  changed({ name }: { readonly name: string }): void {
    this.#designs.delete(name)
  }

  /** Forgets what is stored for views that are not in the document any more. `next` undefined: it is deleted. */
  async dropViews(
    collection: Collection<JsonObject>,
    previous: JsonObject,
    next: JsonObject | undefined,
  ): Promise<void> {
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

/** Stands for a view of which only the name matters. */
const NOTHING = { map: (): void => {} }

export function servedView(
  collection: Collection<JsonObject>,
  designId: string,
  name: string,
  { definition }: DesignView,
): ServedView {
  return collection.view(storedName(designId, name), definition as never) as unknown as ServedView
}

function storedName(designId: string, name: string): string {
  const whole = `${designId}/_view/${name}`
  return whole.length <= NAME_CHARS_MAX ? whole : createHash('sha256').update(whole).digest('hex')
}

function viewNames({ views, language = 'javascript' }: JsonObject): string[] {
  return isJsonObject(views) && language === 'javascript' ? Object.keys(views).filter((name) => name !== 'lib') : []
}

function checkValidation({ language = 'javascript', validate_doc_update: validate }: JsonObject): void {
  if (language === 'javascript' && validate !== undefined && typeof validate !== 'string')
    throw invalid('`validate_doc_update` must be a string')
}

function checkShape(document: JsonObject): void {
  checkValidation(document)
  const { language = 'javascript', views, filters } = document
  if (language !== 'javascript') return
  for (const [name, group] of Object.entries({ views, filters }))
    if (group !== undefined && !isJsonObject(group)) throw invalid(`\`${name}\` must be an object`)
  for (const [name, view] of Object.entries((views ?? {}) as JsonObject)) {
    if (name === 'lib') continue
    if (!isJsonObject(view) || typeof view['map'] !== 'string')
      throw invalid(`\`map\` of the view ${name} must be a string`)
    if (view['reduce'] !== undefined && typeof view['reduce'] !== 'string')
      throw invalid(`\`reduce\` of the view ${name} must be a string`)
    const unknown = unknownReduce(view)
    if (unknown !== undefined) throw noReduce(unknown)
  }
  for (const [name, filter] of Object.entries((filters ?? {}) as JsonObject))
    if (typeof filter !== 'string') throw invalid(`the filter ${name} must be a string`)
}

function noReduce(name: string): HttpError {
  return invalid(`\`${name}\` is not a supported reduce function.`)
}

function invalid(reason: string): HttpError {
  return new HttpError(400, 'invalid_design_doc', reason)
}
