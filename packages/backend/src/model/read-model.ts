/**
 * The records as tables of SQLite, for views and for statements of superusers. It is made when it is first asked, follows what is
 * written, and ends when nobody asks any more. docs/internals/sql.md is the contract.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'pannier'
import { followCommits, newestCommit, type GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { RECORDS_PREFIX, type Definition, type ViewDefinition } from '../definitions/definition.ts'
import type { IndexProgram } from '../definitions/index-program.ts'
import { SqlRefusal, type DescribedQuery, type TextRows, type ViewQueries } from '../definitions/views/view-queries.ts'
import { Feed, overlayOf, type FeedParts } from './feed.ts'
import { MemberLost, type Member, type StartMember } from './members.ts'
import { collectionsNamed, schemaOf } from './model-schema.ts'
import type { ModelAnswers, ModelRequest, Overlay, RowsRequest, StatementsResult } from './protocol.ts'
import { Readers } from './readers.ts'
import { ServiceError } from '../gateway/service-error.ts'

/** Where the model is, and what it is made of. */
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

/** A view that can be read. */
export interface ReadyView {
  readonly request: RowsRequest
  /** The collections that it reads, those of the views that it reads too. */
  readonly collections: readonly Definition[]
  readonly reads: DescribedQuery['reads']
  /** Its rows may change by themselves. */
  readonly isVolatile: boolean
}

/** One that runs longer is ended. */
const TIME_MS_MAX = 30_000
const DESCRIBE_MS_MAX = 5_000
/** From one batch of changes to the next, while nobody waits for them. */
const FEED_MS = 100
const IDLE_MS = 5 * 60_000
const ROUNDS_MAX = 3

const VIEW_LIMITS = { concurrencyMax: 2, waitingMax: 10_000 }
const CONSOLE_LIMITS = { concurrencyMax: 1, waitingMax: 10 }

/** Functions whose values change by themselves, and those that do so with such arguments. */
const VOLATILE = ['random', 'randomblob', 'current_date', 'current_time', 'current_timestamp', 'changes']
const OF_TIME = ['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', 'timediff']
const NOW = /\bnow\b|\(\s*\)/i

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
  /** That of the model that runs. */
  #feed: Feed | undefined
  #describer: Member | undefined
  #ready: { readonly all: readonly Definition[]; readonly views: Map<string, Promise<ReadyView>> } | undefined
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
      views.map(async ({ name, viewQuery: query }) => {
        const schema = schemaOf(collectionsNamed(query, all, name))
        const request = { kind: 'describe', schema, queries: [{ name, query }] } as const
        const refused = (error: string): DescribedQuery[] => [{ error, columns: [], reads: [], functions: [] }]
        const [described] = await this.#described(request, refused)
        return described!
      }),
    )
  }

  async indexErrors(programs: readonly IndexProgram[]): Promise<readonly (string | undefined)[]> {
    if (programs.length === 0) return []
    return this.#described({ kind: 'indexes', programs }, (error) => programs.map(() => error))
  }

  sample(view: ViewDefinition, all: readonly Definition[], limit: number): Promise<TextRows> {
    const { tables, views } = collectionsNamed(view.viewQuery, all, view.name)
    const chain = [...views, view]
    return this.rows({ request: { ...requestOf(chain, tables), limit }, collections: tables })
  }

  /** @throws SqlRefusal if its query no longer fits what it reads */
  ready(view: ViewDefinition): Promise<ReadyView> {
    const all = this.#definitions.all()
    if (this.#ready?.all !== all) this.#ready = { all, views: new Map() }
    const { views } = this.#ready
    let ready = views.get(view.id)
    if (ready === undefined) {
      // A busy machine may have been the reason: the next request tries again.
      ready = this.#prepared(view, all).catch((error: unknown) => {
        views.delete(view.id)
        throw error
      })
      views.set(view.id, ready)
    }
    return ready
  }

  /** The rows at a commit, or at a later one. @throws SqlRefusal */
  rows(
    { request, collections }: Pick<ReadyView, 'request' | 'collections'>,
    sequence: number = this.#newest(),
  ): Promise<TextRows> {
    return this.#using(async (live, signal) => {
      await live.feed.upTo(sequence, collections)
      return live.readers.run(async (reader) => {
        const rows: (readonly (string | null)[])[] = []
        const onRows = (piece: TextRows['rows']): void => void rows.push(...piece)
        const columns = await reader.ask<'rows'>(request, { signal, timeMsMax: TIME_MS_MAX, onRows })
        return { columns, rows }
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

  /** What a transaction sees, and the model does not have. Undefined: too much, also when the model has all that is committed. */
  overlays({ collections }: ReadyView, reader: GuardReader): readonly Overlay[] | 'behind' | undefined {
    const found = collections.map((definition) => overlayOf(definition, reader, this.#feed?.positionOf(definition.id)))
    if (found.includes(undefined)) return (this.#feed?.at ?? 0) < this.#newest() ? 'behind' : undefined
    return found.flatMap((one) => (one!.rows.length + one!.gone.length === 0 ? [] : [one!]))
  }

  /** Runs statements; `positions` tells how far each collection had come before. @throws SqlRefusal */
  async run(
    statements: string,
  ): Promise<{ readonly result: StatementsResult; readonly positions: ReadonlyMap<string, number> }> {
    const named = collectionsNamed(statements, this.#definitions.all())
    return this.#using((live, signal) =>
      live.console.run(async (reader) => {
        await live.feed.upTo(this.#newest(), named.tables)
        const positions = new Map(named.tables.map(({ id }) => [id, live.feed.positionOf(id)]))
        const request = { kind: 'run', schema: schemaOf(named), statements } as const
        const result = await reader.ask<'run'>(request, { signal, timeMsMax: TIME_MS_MAX })
        return { result, positions }
      }),
    )
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

  async #prepared(view: ViewDefinition, all: readonly Definition[]): Promise<ReadyView> {
    const [described] = await this.describe([view], all)
    const { error, reads, functions } = described!
    if (error !== undefined) throw new SqlRefusal(error)
    const { tables, views } = collectionsNamed(view.viewQuery, all, view.name)
    const chain = [...views, view]
    const isTimed = functions.some((name) => OF_TIME.includes(name)) && chain.some((one) => NOW.test(one.viewQuery))
    const isVolatile = isTimed || functions.some((name) => VOLATILE.includes(name))
    const read = new Set(reads.map(([table]) => table.toLowerCase()))
    const collections = tables.filter(({ name }) => read.has(name.toLowerCase()))
    return { request: requestOf(chain, tables), collections, reads, isVolatile }
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
    const feed = new Feed({ database, environment, definitions: this.#definitions, send })
    this.#feed = feed
    const readerOf = (isLow: boolean) => (): Member => (file === undefined ? keeper : this.#reader(file, isLow))
    const limits = file === undefined ? { ...VIEW_LIMITS, concurrencyMax: 1 } : VIEW_LIMITS
    const readers = new Readers(limits, readerOf(false))
    const console = new Readers(CONSOLE_LIMITS, readerOf(true))
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
    const bring = async (): Promise<void> => {
      cancel = undefined
      await feed.upTo(this.#newest(), [])
    }
    const stop = followCommits(this.#parts.database, (collections) => {
      const isNews = [...collections].some((name) => name.startsWith(RECORDS_PREFIX))
      if (isNews)
        cancel ??= this.#parts.environment.after(FEED_MS, () => {
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

function requestOf(chain: readonly ViewDefinition[], tables: readonly Definition[]): RowsRequest {
  const views = chain.map(({ name, viewQuery: query }) => ({ name, query }))
  return { kind: 'rows', views, names: [...tables, ...chain].map(({ name }) => name) }
}
