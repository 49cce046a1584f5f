/**
 * The records as tables of SQLite, for views and for statements of superusers. It is made when it is first asked, follows what is
 * written, and ends when nobody asks any more. docs/internals/sql.md is the contract.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'pannier'
import { followCommits, LruMap, newestCommit, type GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Definition, ViewDefinition } from '../definitions/definition.ts'
import type { IndexProgram } from '../definitions/index-program.ts'
import type { Cell } from '../fields/sqlite.ts'
import type { PageWanted } from '../definitions/views/view-reader.ts'
import { SqlRefusal, type DescribedQuery, type TextRows, type ViewQueries } from '../definitions/views/view-queries.ts'
import { Feed, overlayOf, type FeedParts } from './feed.ts'
import { keptPlan } from './kept-plan.ts'
import { MemberLost, type Member, type StartMember } from './members.ts'
import { collectionsNamed, hasTime, readsClock, schemaOf, type NamedCollections } from './model-schema.ts'
import type {
  Compared,
  JsonRows,
  KeptView,
  ModelAnswers,
  ModelRequest,
  ModelSource,
  Overlay,
  RowsRequest,
  StatementsResult,
} from './protocol.ts'
import { Readers } from './readers.ts'
import { databasesNamed, sourceOf, type TableSource } from './sources.ts'
import { ServiceError } from '../gateway/service-error.ts'

/** Where the model is, and its sources. */
export interface ModelHome {
  readonly start: StartMember
  /** False: one process has it in memory, and no plain text of a record reaches a file. */
  readonly isFile: boolean
}

interface ReadModelParts {
  readonly database: Database
  readonly environment: Environment
  readonly home: ModelHome
}

interface KnownCollections {
  find(id: string): Definition | undefined
  all(): readonly Definition[]
  steadily?<T>(read: () => Promise<T>): Promise<T>
}

/** A table, and how far the model has its collection. */
export type PlacedTable = readonly [table: TableSource, position: number]

/** A view, or a SELECT, that can be read. */
export interface ReadyView {
  readonly request: RowsRequest
  /** The collections of the query, and those of the views that it reads. */
  readonly collections: readonly TableSource[]
  readonly reads: DescribedQuery['reads']
  /** True if the rows may change by themselves. */
  readonly isVolatile: boolean
  /** The same query where a parameter is the present, and may be a time of it. */
  readonly atPresent?: ReadyView
  /** How its rows can be kept. */
  readonly kept: KeptView | undefined
}

/** The time after which a query is ended. */
const TIME_MS_MAX = 30_000
const DESCRIBE_MS_MAX = 5_000
/** From one batch of changes to the next, while nobody waits for them. */
const FEED_MS = 100
const IDLE_MS = 5 * 60_000
const ROUNDS_MAX = 3
/** Queries that stay prepared. */
const READY_MAX = 2000
/** A view that was read so often, as something had changed each time, has its rows kept. If that fails, after twice as many. */
const KEPT_AFTER_READS = 3
/** The keeper reads a view whole to keep it, and all wait meanwhile: one that takes longer is not kept. */
const KEPT_READ_MS_MAX = 5_000

const VIEW_LIMITS = { concurrencyMax: 2, waitingMax: 10_000 }
const CONSOLE_LIMITS = { concurrencyMax: 1, waitingMax: 10 }

/** Figures of the model for an operator. All 0 while nothing runs, except for `ended`. */
export interface ModelFigures {
  /** The file, or what the process has in memory. */
  readonly bytes: number
  /** How long the oldest change waits that it does not have. */
  readonly lagMs: number
  /** Processes that were lost or ended, as a query had exceeded a limit. Counted since the start. */
  readonly ended: number
}

/** A model that runs. */
interface LiveModel {
  readonly feed: Feed
  readonly readers: Readers
  readonly console: Readers
  readonly isAlive: () => boolean
  readonly end: () => Promise<void>
}

export class ReadModel implements ViewQueries {
  readonly #parts: ReadModelParts
  #definitions: KnownCollections = { find: () => undefined, all: () => [] }
  #live: Promise<LiveModel> | undefined
  /** The feed of the running model. */
  #feed: Feed | undefined
  /** Databases that were named, by their ids. */
  readonly #databases = new Map<string, TableSource>()
  #ended = 0
  #describer: Member | undefined
  #ready: { readonly all: readonly Definition[]; readonly views: LruMap<string, Promise<ReadyView>> } | undefined
  /** Reads of all rows, and the one at which keeping them is tried next. */
  readonly #reads = new WeakMap<KeptView, { readonly count: number; readonly next: number }>()
  #cancelIdle = (): void => {}
  #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(parts: ReadModelParts) {
    this.#parts = parts
  }

  /** Definitions ask the model about views, so they come later. */
  follow(definitions: KnownCollections): void {
    this.#definitions = definitions
  }

  async describe(views: readonly ViewDefinition[], all: readonly Definition[]): Promise<readonly DescribedQuery[]> {
    return Promise.all(
      views.map((view) => this.#describedQuery(sourceOfView(view), collectionsNamed(view.viewQuery, all, view.name))),
    )
  }

  async indexErrors(programs: readonly IndexProgram[]): Promise<readonly (string | undefined)[]> {
    if (programs.length === 0) return []
    return this.#described({ kind: 'indexes', programs }, (error) => programs.map(() => error))
  }

  sample(view: ViewDefinition, all: readonly Definition[], limit: number): Promise<TextRows> {
    const named = collectionsNamed(view.viewQuery, all, view.name)
    return this.rows({ request: { ...requestOf(sourceOfView(view), named), limit }, collections: named.tables })
  }

  /** @throws SqlRefusal if its query no longer fits what it reads */
  ready(view: ViewDefinition): Promise<ReadyView> {
    const source = sourceOfView(view)
    return this.#prepared(view.id, source, async (all) => collectionsNamed(source.query, all, view.name))
  }

  /** As `ready`, of a SELECT that may have parameters and read databases. @throws SqlRefusal */
  readySelect(query: string): Promise<ReadyView> {
    return this.#prepared(` ${query}`, { query }, (all) => this.#named(query, all))
  }

  /** SQLite's error for a SELECT, with these definitions. */
  async selectError(query: string, all: readonly Definition[]): Promise<string | undefined> {
    return (await this.#describedQuery({ query }, await this.#named(query, all))).error
  }

  /** The rows at a commit, or at a later one. @throws SqlRefusal */
  async rows(ready: Pick<ReadyView, 'request' | 'collections'>, sequence?: number): Promise<TextRows> {
    return (await this.selectRows(ready, {}, sequence)) as TextRows
  }

  /** As `rows`, of a SELECT, with the values of its parameters. @throws SqlRefusal */
  selectRows(
    { request, collections, kept }: Pick<ReadyView, 'request' | 'collections'> & Partial<ReadyView>,
    values: Readonly<Record<string, Cell>>,
    sequence: number = this.#newest(),
  ): Promise<JsonRows> {
    return this.#using(async (live, signal) => {
      await live.feed.upTo(sequence, collections)
      return live.readers.run(async (reader) => {
        const rows: JsonRows['rows'][number][] = []
        const onRows = (piece: JsonRows['rows']): void => void rows.push(...piece)
        const start = this.#parts.environment.now()
        const columns = await reader.ask<'rows'>({ ...request, values }, { signal, timeMsMax: TIME_MS_MAX, onRows })
        const isQuick = this.#parts.environment.now() - start <= KEPT_READ_MS_MAX
        if (kept !== undefined && isQuick) this.#keepLater(live.feed, kept)
        return { columns, rows }
      })
    })
  }

  #keepLater(feed: Feed, kept: KeptView): void {
    const { count, next } = this.#reads.get(kept) ?? { count: 1, next: KEPT_AFTER_READS }
    this.#reads.set(kept, { count: count + 1, next: count === next ? 2 * next : next })
    if (count === next) feed.keep(kept)
  }

  /** A page of rows that are kept. Undefined: they are not. */
  async page(view: ReadyView, wanted: PageWanted, sequence: number): Promise<ModelAnswers['page'] | undefined> {
    const { kept, collections } = view
    if (kept === undefined) return undefined
    return this.#using(async ({ feed, readers }, signal) => {
      await feed.upTo(sequence, collections)
      if (!feed.keeps(kept, wanted.order)) return undefined
      const request = { kind: 'page', view: kept.name, ...wanted } as const
      const asked = readers.run((reader) => reader.ask<'page'>(request, { signal, timeMsMax: TIME_MS_MAX }))
      // They may be kept no longer since.
      return asked.catch((error: unknown) => {
        if (!(error instanceof SqlRefusal)) throw error
        return undefined
      })
    })
  }

  /** Waits for a commit. `changedAt`: the newest one that has changed what the view reads. */
  upTo(
    view: ReadyView,
    sequence: number = this.#newest(),
  ): Promise<{ readonly at: number; readonly changedAt: number }> {
    return this.#using(async ({ feed }) => {
      await feed.upTo(sequence, view.collections)
      return { at: feed.at, changedAt: feed.changedAt(view.reads) }
    })
  }

  /** The writes of a transaction that the model does not have. Undefined: too much, also when the model has all that is committed. */
  overlays({ collections }: ReadyView, reader: GuardReader): readonly Overlay[] | 'behind' | undefined {
    const found = collections.map((definition) => overlayOf(definition, reader, this.#feed?.positionOf(definition.id)))
    if (found.includes(undefined)) return (this.#feed?.at ?? 0) < this.#newest() ? 'behind' : undefined
    return found.flatMap((one) => (one!.rows.length + one!.gone.length === 0 ? [] : [one!]))
  }

  /**
   * Runs statements; `positions` tells how far each collection had come before. `overlaid`: they see the writes of a transaction.
   *
   * @throws SqlRefusal
   */
  async run(
    statements: string,
    rowsMax: number,
    overlaid: (tables: readonly PlacedTable[]) => Promise<readonly Overlay[]> = async () => [],
  ): Promise<{ readonly result: StatementsResult; readonly positions: ReadonlyMap<string, number> }> {
    const named = await this.#named(statements, this.#definitions.all())
    return this.#using((live, signal) =>
      live.console.run(async (reader) => {
        await live.feed.upTo(this.#newest(), named.tables)
        const placed = named.tables.map((table): PlacedTable => [table, live.feed.positionOf(table.id)])
        const positions = new Map(placed.map(([{ id }, position]) => [id, position]))
        const overlays = await overlaid(placed)
        const request = { kind: 'run', schema: schemaOf(named), statements, rowsMax, overlays } as const
        const result = await reader.ask<'run'>(request, { signal, timeMsMax: TIME_MS_MAX })
        return { result, positions }
      }),
    )
  }

  /** Compares the tables that there are with their collections, while these change. One call at a time. */
  async compare(cancelled: AbortSignal): Promise<readonly Compared[]> {
    if (this.#live === undefined) return []
    return this.#using(async ({ feed }, closing) => {
      const compared: Compared[] = []
      for (const id of feed.ids) {
        const found = await feed.compare(id, AbortSignal.any([cancelled, closing]))
        if (found !== undefined) compared.push(found)
      }
      return compared
    })
  }

  figures(): ModelFigures {
    const { bytes = 0, waitingSince } = this.#feed ?? {}
    const lagMs = waitingSince === undefined ? 0 : this.#parts.environment.now() - waitingSince
    return { bytes, lagMs, ended: this.#ended }
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    this.#closing.abort(new ServiceError('UNAVAILABLE', 'The server is closing. Try again later.'))
    this.#cancelIdle()
    await Promise.allSettled(this.#running)
    await this.#end()
  }

  #described<K extends 'describe' | 'indexes'>(
    request: Extract<ModelRequest, { readonly kind: K }>,
    refused: (error: string) => ModelAnswers[K],
  ): Promise<ModelAnswers[K]> {
    const asked = this.#asking((signal) => {
      if (this.#describer?.isAlive !== true) this.#describer = this.#parts.home.start()
      return this.#describer.ask<K>(request, { signal, timeMsMax: DESCRIBE_MS_MAX })
    })
    return asked.catch((error: unknown) => {
      if (!(error instanceof SqlRefusal)) throw error
      return refused(error.message)
    })
  }

  #newest(): number {
    return newestCommit(this.#parts.database)
  }

  #prepared(
    key: string,
    source: ModelSource,
    namedIn: (all: readonly Definition[]) => Promise<NamedCollections>,
  ): Promise<ReadyView> {
    const all = this.#definitions.all()
    if (this.#ready?.all !== all) this.#ready = { all, views: new LruMap(READY_MAX) }
    const { views } = this.#ready
    let ready = views.get(key)
    if (ready === undefined) {
      // A busy machine may have been the reason: the next request tries again.
      ready = this.#prepare(source, namedIn(all)).catch((error: unknown) => {
        views.delete(key)
        throw error
      })
      views.set(key, ready)
    }
    return ready
  }

  async #prepare(source: ModelSource, naming: Promise<NamedCollections>): Promise<ReadyView> {
    const named = await naming
    const { error, reads, functions } = await this.#describedQuery(source, named)
    if (error !== undefined) throw new SqlRefusal(error)
    const queries = [...named.views.map(({ viewQuery }) => viewQuery), source.query]
    const isVolatile = readsClock(queries, named, functions)
    const read = new Set(reads.map(([table]) => table.toLowerCase()))
    const collections = named.tables.filter(({ table }) => read.has(table.name.toLowerCase()))
    const isPlain = source.name !== undefined && named.views.length === 0 && !isVolatile
    const tables = collections.map(({ table }) => table)
    const kept = isPlain ? keptPlan(source, tables) : undefined
    const ready = { request: requestOf(source, named), collections, reads, isVolatile, kept }
    return hasTime(functions) ? { ...ready, atPresent: { ...ready, isVolatile: true } } : ready
  }

  /** With databases. */
  async #named(text: string, all: readonly Definition[]): Promise<NamedCollections> {
    const { tables, views } = collectionsNamed(text, all)
    const databases = await databasesNamed(text, this.#parts.database)
    for (const one of databases) this.#databases.set(one.id, one)
    return { tables: [...tables, ...databases], views }
  }

  #sourceOf(id: string): TableSource | undefined {
    const definition = this.#definitions.find(id)
    if (definition?.id === id && definition.type !== 'view') return sourceOf(definition)
    return this.#databases.get(id)
  }

  #describedQuery(query: ModelSource, named: NamedCollections): Promise<DescribedQuery> {
    const request = { kind: 'describe', schema: schemaOf(named), query } as const
    return this.#described(request, (error) => ({ error, columns: [], reads: [], functions: [] }))
  }

  /** A model that is lost is made again. */
  #using<T>(work: (live: LiveModel, signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#asking(async (signal) => {
      this.#live ??= this.#open().catch((error: unknown) => {
        this.#live = undefined
        throw error
      })
      const opened = this.#live
      const live = await opened
      try {
        return await work(live, signal)
      } catch (error) {
        if (error instanceof MemberLost) await this.#discard(opened)
        throw error
      } finally {
        if (!live.isAlive()) await this.#discard(opened)
      }
    })
  }

  async #asking<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#closing
    signal.throwIfAborted()
    this.#cancelIdle()
    const running = this.#tried(() => work(signal))
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
      this.#cancelIdle()
      if (this.#running.size === 0 && !signal.aborted)
        this.#cancelIdle = this.#parts.environment.after(IDLE_MS, () => void this.#end())
    }
  }

  /** @throws ServiceError UNAVAILABLE if its processes end again and again */
  async #tried<T>(work: () => Promise<T>): Promise<T> {
    for (let round = 1; ; round++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof MemberLost)) throw error
        if (round < ROUNDS_MAX) continue
        throw new ServiceError('UNAVAILABLE', 'The process for SQL has failed. Try again later.', { cause: error })
      }
    }
  }

  async #discard(opened: Promise<LiveModel>): Promise<void> {
    if (this.#live !== opened) return
    this.#live = this.#feed = undefined
    this.#ended++
    await (await opened).end()
  }

  async #end(): Promise<void> {
    const [live, describer] = [this.#live, this.#describer]
    this.#live = this.#describer = this.#feed = undefined
    const opened = await live?.catch(() => undefined)
    await Promise.all([opened?.end(), describer?.end()])
  }

  async #open(): Promise<LiveModel> {
    const { database, environment, home } = this.#parts
    const folder = home.isFile ? await mkdtemp(join(tmpdir(), 'pannier-model-')) : undefined
    const file = folder && join(folder, 'model.db')
    const keeper = home.start()
    const send: FeedParts['send'] = (steps, isLast) =>
      keeper.ask<'feed'>({ kind: 'feed', steps, isLast }).catch((error: unknown) => {
        // It has only a part of them.
        throw error instanceof MemberLost ? error : new MemberLost('The read model takes no more.', { cause: error })
      })
    const feed = new Feed({
      database,
      environment,
      find: (id) => this.#sourceOf(id),
      steadily: (read) => this.#definitions.steadily?.(read) ?? read(),
      send,
    })
    this.#feed = feed
    const readerOf = (isLow: boolean) => (): Member => (file === undefined ? keeper : this.#reader(file, isLow))
    const limits = file === undefined ? { ...VIEW_LIMITS, concurrencyMax: 1 } : VIEW_LIMITS
    const onEnded = (): void => void this.#ended++
    const readers = new Readers(limits, readerOf(false), onEnded)
    const console = new Readers(CONSOLE_LIMITS, readerOf(true), onEnded)
    const stop = this.#followCommits(feed)
    const end = async (): Promise<void> => {
      stop()
      await Promise.all([keeper.end(), readers.end(), console.end()])
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    }
    try {
      await keeper.ask<'open'>({ kind: 'open', role: 'keeper', file })
    } catch (error) {
      await end()
      throw error
    }
    return { feed, readers, console, isAlive: () => keeper.isAlive, end }
  }

  #reader(file: string, isLow: boolean): Member {
    const reader = this.#parts.home.start({ isLow })
    reader.ask<'open'>({ kind: 'open', role: 'reader', file }).catch(() => reader.end())
    return reader
  }

  /** Few changes are left to bring when somebody asks. */
  #followCommits(feed: Feed): () => void {
    let cancel: (() => void) | undefined
    const { environment } = this.#parts
    const bring = async (): Promise<void> => {
      cancel = undefined
      const since = feed.waitingSince
      await feed.upTo(this.#newest(), [])
      if (feed.waitingSince === since) feed.waitingSince = undefined
    }
    const stop = followCommits(this.#parts.database, (collections) => {
      if (!feed.follows(collections)) return
      feed.waitingSince ??= environment.now()
      cancel ??= environment.after(FEED_MS, () => {
        // One that asks next hears of it.
        bring().catch(() => {})
      })
    })
    return () => {
      stop()
      cancel?.()
    }
  }
}

function sourceOfView({ name, viewQuery: query }: ViewDefinition): ModelSource {
  return { name, query }
}

function requestOf(from: ModelSource, named: NamedCollections): RowsRequest {
  const { tables, views } = schemaOf(named)
  const names = [...tables, ...views].map(({ name }) => name)
  return { kind: 'rows', from, views, names: from.name === undefined ? names : [...names, from.name] }
}
