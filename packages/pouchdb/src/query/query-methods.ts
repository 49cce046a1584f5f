/** `query()` and `viewCleanup()` of PouchDB's map/reduce plug-in, on views of the library. The plug-in looks for `_query` and calls it. */
import type { JsonObject, ViewDefinition, ViewResult } from 'pannier'
import { toCouchDocument } from 'pannier/internal'
import { answer, builtInError, viewNotFound } from '../failures.ts'
import { withContents } from '../lists.ts'
import type { Callback, Place, Pouch } from '../pouch.ts'
import { KnownViews, viewName } from './known-views.ts'
import type { FindIndexes } from './find-indexes.ts'
import { findIndexOf, isMangoMap, mangoView, type MangoMap } from './mango-view.ts'
import { checkQuery, libraryOptions, type QueryOptions } from './query-options.ts'
import { ViewFunctions, type PouchView } from './view-functions.ts'

/** Undefined while a plug-in shows other documents than those that are stored: then PouchDB's plug-in makes the views, of what it shows. */
export function queryMethods(
  api: Pouch,
  opening: Promise<IndexedPlace>,
  isWrapped: () => boolean,
): PropertyDescriptorMap {
  const querying = opening.then((place) => new ViewQueries(api, place))
  querying.catch(() => undefined)
  const query = (view: string | PouchView, options: QueryOptions, callback: Callback): void =>
    answer(callback, async () => (await querying).query(view, options))
  const cleanUp = (callback: Callback): void => answer(callback, async () => (await querying).cleanUp())
  return {
    _query: { configurable: true, get: () => (isWrapped() ? undefined : query) },
    _viewCleanup: { configurable: true, get: () => (isWrapped() ? undefined : cleanUp) },
  }
}

/** A view of a design document, which people write by hand. */
interface StoredView {
  readonly map?: unknown
  readonly reduce?: string
}

type IndexedPlace = Place & { readonly indexes: FindIndexes }
type Rows = ViewResult<unknown, unknown, JsonObject>

interface Row {
  readonly id?: string
  readonly key?: unknown
  readonly value?: unknown
  /** Null: there is no such document. */
  readonly doc?: JsonObject | null
}

class ViewQueries {
  readonly #api: Pouch
  readonly #place: IndexedPlace
  readonly #functions: ViewFunctions
  readonly #known: KnownViews
  /** By view: the sequence that its last query has seen. */
  readonly #seen = new Map<string, number>()

  constructor(api: Pouch, place: IndexedPlace) {
    this.#api = api
    this.#place = place
    this.#functions = new ViewFunctions(api)
    this.#known = new KnownViews(place)
  }

  async query(view: string | PouchView, options: QueryOptions): Promise<JsonObject> {
    const { docs } = this.#place
    if (typeof view !== 'string') {
      checkQuery(options, Boolean(view.reduce))
      const definition = this.#functions.definition(view)
      return await this.#answer('temp_view', options, (how) => docs.mapReduce(definition as never, how))
    }
    const [design = '', name = design] = view.split('/')
    const found = await this.#viewOf(design, name)
    checkQuery(options, 'reduce' in found && Boolean(found.reduce))
    if (isMangoMap(found.map) && options.limit === 0) return await this.#buildIndex(found.map)
    const definition = isMangoMap(found.map) ? mangoView(found.map) : this.#functions.definition(found as PouchView)
    const stored = viewName(design, name)
    await this.#known.add(stored)
    return await this.#answer(view, options, (how) =>
      docs.view(stored, definition as ViewDefinition<JsonObject, unknown, unknown, undefined>).query(how),
    )
  }

  /** Drops the views and indexes of design documents that are gone. */
  async cleanUp(): Promise<{ readonly ok: true }> {
    const { docs, indexes } = this.#place
    const designs = await docs.list({ prefix: DESIGN, docs: true }).toArray()
    const views = designs.flatMap(({ id, doc }) =>
      Object.entries(doc?.['views'] ?? {}).map(
        ([name, view]) => [viewName(id.slice(DESIGN.length), name), (view as StoredView | null)?.map] as const,
      ),
    )
    await this.#known.keep(new Set(views.map(([name]) => name)))
    await indexes.keep(views.flatMap(([, map]) => (isMangoMap(map) ? [findIndexOf(map)] : [])))
    return { ok: true }
  }

  /** `createIndex()` of pouchdb-find asks for no rows. `find()` uses the index. */
  async #buildIndex(map: MangoMap): Promise<JsonObject> {
    await this.#place.indexes.built(findIndexOf(map))
    return { total_rows: 0, offset: 0, rows: [] }
  }

  /** @throws PouchDB's errors where a view is missing */
  async #viewOf(design: string, name: string): Promise<PouchView | { readonly map: MangoMap }> {
    const document = await this.#api.get(DESIGN + design)
    const views = document['views'] as Readonly<Record<string, StoredView | null>> | undefined
    const { map, reduce } = views?.[name] ?? {}
    if (typeof map === 'string') return { map, reduce }
    if (isMangoMap(map)) return { map }
    if (map === undefined) throw viewNotFound(`ddoc ${DESIGN}${design} has no view named ${name}`)
    throw viewNotFound(
      `ddoc ${DESIGN}${design} has no string view named ${name}, instead found object of type: ${typeof map}`,
    )
  }

  async #answer(
    name: string,
    options: QueryOptions,
    run: (how: ReturnType<typeof libraryOptions>) => Promise<unknown>,
  ): Promise<JsonObject> {
    const ended = await this.#announce(name, options)
    const result = (await run(libraryOptions(options))) as Rows
    ended(result.updateSeq)
    const rows: JsonObject[] = []
    for (const row of result.rows) rows.push(await this.#row(row, options, result.total === undefined))
    const sequence = options.update_seq ? { update_seq: result.updateSeq } : {}
    if (result.total === undefined) return { rows, ...sequence }
    return { total_rows: result.total, offset: options.skip ?? 0, rows, ...sequence }
  }

  async #row(row: JsonObject, options: QueryOptions, isReduced: boolean): Promise<JsonObject> {
    const { id, key = null, value = null, doc } = row as Row
    if (isReduced) {
      const { error, reason } = (value ?? {}) as { readonly error?: unknown; readonly reason?: unknown }
      if (error === 'builtin_reduce_error') throw builtInError(String(reason))
      return { value, key }
    }
    if (!options.include_docs) return { id, key, value }
    const shown = doc && (await withContents(this.#place, toCouchDocument(doc), options))
    return { id, key, value, doc: shown }
  }

  /** The event `indexing`, before and after. The library does not say how many documents it maps, so changes are counted. */
  async #announce(view: string, { stale }: QueryOptions): Promise<(sequence: number) => void> {
    const { docs } = this.#place
    if (this.#api.listenerCount('indexing') === 0 || stale !== undefined) return () => undefined
    const seen = this.#seen.get(view) ?? 0
    if (seen === (await docs.info()).lastSeq) return () => undefined
    this.#api.emit('indexing', { view, indexed_docs: 0 })
    return (sequence) => {
      this.#seen.set(view, sequence)
      const changes = sequence - seen
      this.#api.emit('indexing', { view, last_seq: sequence, results_count: changes, indexed_docs: changes })
    }
  }
}

const DESIGN = '_design/'
