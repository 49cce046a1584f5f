/** Brings what is written into the read model, from the change feed: a few documents a turn, all of one commit in one transaction. */
import type { Database } from 'pannier'
import { holdSnapshot, type GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { DescribedQuery } from '../definitions/views/view-queries.ts'
import type { Compared, Fed, FeedStep, KeptView, NumberedRow, Overlay, PageRequest } from './protocol.ts'
import type { TableSource } from './sources.ts'

/** Documents of one turn. A snapshot is held as long as a turn takes. */
const TURN_DOCUMENTS = 256
/** Turns that the keeper has not answered. */
const TURNS_AHEAD = 16
/** Rows of a view are kept no longer when nobody has asked for them since. */
const KEPT_MS = 60_000

export interface FeedParts {
  readonly database: Database
  readonly environment: Environment
  /** As it is now. */
  readonly find: (id: string) => TableSource | undefined
  /** Runs what reads in one state of the definitions. */
  readonly steadily: <T>(read: () => Promise<T>) => Promise<T>
  /** Sends steps to the keeper. */
  readonly send: (steps: readonly FeedStep[], isLast: boolean) => Promise<Fed>
}

/** A table, and how far it has come. */
interface FedTable {
  readonly table: TableSource['table']
  /** The origin of the table: the number of the library's collection, and the table. */
  readonly version: string
  readonly sequence: number
}

/** A view whose rows are kept. */
interface KeptState {
  readonly query: string
  /** When a list has last asked for them. */
  askedAt: number
  /** Orders in which they were asked for. */
  readonly orders: Set<string>
}

/** A collection that is compared with its table. */
interface Comparing {
  readonly id: string
  /** The place of the feed: how far it has come, and for which table. */
  place: { readonly version: string; readonly sequence: number } | undefined
  result: Compared | undefined
}

/** Steps, and how far they bring each table. */
interface Turn {
  readonly steps: readonly FeedStep[]
  readonly reached: ReadonlyMap<string, FedTable>
  /** How far each table is compared. */
  readonly compared: ReadonlyMap<Comparing, FedTable>
  readonly isLast: boolean
}

export class Feed {
  readonly #parts: FeedParts
  /** The tables as they were sent. */
  #fed: ReadonlyMap<string, FedTable> = new Map()
  /** The tables as readers see them. */
  #committed: ReadonlyMap<string, FedTable> = new Map()
  /** Ids of the sources that are followed. */
  readonly #wanted = new Set<string>()
  #running: Promise<void> | undefined
  /** For each column the newest commit that has changed it, by `table.column`; `table.` for rows that came or went. */
  readonly #changedAt = new Map<string, number>()
  /** Views whose rows the next transaction begins to keep. */
  readonly #toKeep = new Map<string, KeptView>()
  #kept: ReadonlyMap<string, KeptState> = new Map()
  /** Orders of kept rows that have no index yet. */
  #toOrder: Extract<FeedStep, { readonly kind: 'order' }>[] = []
  readonly #comparing = new Set<Comparing>()
  /** The number of the newest commit that the model has. */
  at = 0
  /** The bytes of the whole model. */
  bytes = 0
  /** When the oldest change was written that it does not have; for the one that follows commits. */
  waitingSince: number | undefined

  constructor(parts: FeedParts) {
    this.#parts = parts
  }

  /** Resolves when the model has a commit, and these collections whole. */
  async upTo(sequence: number, sources: readonly TableSource[]): Promise<void> {
    for (const { id } of sources) this.#wanted.add(id)
    while (this.at < sequence || sources.some(({ id }) => this.#lacks(id))) await this.#bring()
  }

  /** Ids of the sources that have a table. */
  get ids(): readonly string[] {
    return [...this.#committed.keys()]
  }

  /** Compares a table with its collection, while this changes. Undefined: the collection is gone. */
  async compare(id: string, signal: AbortSignal): Promise<Compared | undefined> {
    const comparing: Comparing = { id, place: undefined, result: undefined }
    this.#comparing.add(comparing)
    try {
      while (comparing.result === undefined) {
        signal.throwIfAborted()
        if (this.#parts.find(id) === undefined) return undefined
        await this.#bring()
      }
      return comparing.result
    } finally {
      this.#comparing.delete(comparing)
    }
  }

  #bring(): Promise<void> {
    return (this.#running ??= this.#run().finally(() => (this.#running = undefined)))
  }

  /** How far a collection has come at least, for readers, by its number of the last write. */
  positionOf(id: string): number {
    return this.#committed.get(id)?.sequence ?? 0
  }

  /** The newest commit that has changed what a query reads. */
  changedAt(reads: DescribedQuery['reads']): number {
    let newest = 0
    for (const [table, column] of reads)
      for (const key of [`${table}.`, `${table}.${column}`]) newest = Math.max(newest, this.#changedAt.get(key) ?? 0)
    return newest
  }

  /** From the next transaction on, unless SQLite would have to go through a table for one row. */
  keep(view: KeptView): void {
    if (this.#kept.get(view.name)?.query !== view.query) this.#toKeep.set(view.name, view)
  }

  /** Whether readers see the rows of a view kept. From the next transaction on, this order of them has an index. */
  keeps({ name, query }: KeptView, order: PageRequest['order']): boolean {
    const kept = this.#kept.get(name)
    if (kept?.query !== query) return false
    kept.askedAt = this.#parts.environment.now()
    const key = JSON.stringify(order)
    if (order.length > 0 && !kept.orders.has(key)) {
      kept.orders.add(key)
      this.#toOrder.push({ kind: 'order', view: name, order })
    }
    return true
  }

  /** Whether one of the collections of the library is followed. */
  follows(collections: ReadonlySet<string>): boolean {
    return Array.from(this.#wanted).some((id) => collections.has(this.#parts.find(id)?.collection ?? ''))
  }

  #lacks(id: string): boolean {
    const source = this.#parts.find(id)
    return source !== undefined && this.#fed.get(id)?.version.endsWith(source.version) !== true
  }

  /** Until one turn finds nothing left: then the model is as the snapshot of that turn. */
  async #run(): Promise<void> {
    const { database, environment, steadily, send } = this.#parts
    const ahead: Promise<Fed>[] = []
    for (let turn: Turn | undefined; turn?.isLast !== true;) {
      const snapshot = holdSnapshot(database)
      try {
        turn = await steadily(() => snapshot.read((reader) => this.#turn(reader)))
      } finally {
        snapshot.end()
      }
      const answer = send([...turn.steps, ...(turn.isLast ? this.#keptSteps() : [])], turn.isLast)
      // One that fails is thrown when its turn has come.
      answer.catch(() => {})
      ahead.push(answer)
      while (ahead.length > (turn.isLast ? 1 : TURNS_AHEAD)) await ahead.shift()
      this.#fed = turn.reached
      for (const [comparing, place] of turn.compared) comparing.place = place
      if (turn.isLast) this.#note(await answer, snapshot.sequence)
      else await environment.yield()
    }
  }

  #note({ changed, kept, compared, bytes }: Fed, sequence: number): void {
    for (const one of this.#comparing) {
      const name = this.#fed.get(one.id)?.table.name
      one.result ??= compared.find(({ table }) => table === name)
    }
    this.at = sequence
    const askedAt = this.#parts.environment.now()
    this.#kept = new Map(
      kept.map(({ name, query }) => {
        const known = this.#kept.get(name)
        return [name, known?.query === query ? known : { query, askedAt, orders: new Set() }]
      }),
    )
    this.bytes = bytes
    this.#committed = this.#fed
    for (const [table, columns] of changed)
      for (const column of columns ?? ['']) this.#changedAt.set(`${table}.${column}`, sequence)
  }

  #turn(reader: GuardReader): Turn {
    const steps: FeedStep[] = []
    const reached = new Map(this.#fed)
    let left = TURN_DOCUMENTS
    const followed = Array.from(this.#wanted, (id) => {
      const source = this.#parts.find(id)
      const { number = 0, sequence = 0 } = (source && reader.lastWrite(source.collection)) ?? {}
      return { id, source, sequence, version: source && `${number} ${source.version}` }
    })
    // Two tables may have changed their names.
    for (const { id, version } of followed) {
      const fed = reached.get(id)
      if (fed === undefined || fed.version === version) continue
      steps.push({ kind: 'drop', table: fed.table.name })
      reached.delete(id)
    }
    for (const { id, source, sequence, version } of followed) {
      if (source === undefined || version === undefined) continue
      let fed = reached.get(id)
      if (fed === undefined) {
        fed = { table: source.table, version, sequence: 0 }
        steps.push({ kind: 'table', table: fed.table })
      }
      while (left > 0 && fed.sequence < sequence) {
        const written = reader.writtenAfter(source.collection, fed.sequence).slice(0, left)
        const { rows, gone } = rowsOf(source, written)
        if (rows.length > 0) steps.push({ kind: 'rows', table: fed.table.name, rows })
        if (gone.length > 0) steps.push({ kind: 'gone', table: fed.table.name, numbers: gone })
        left -= written.length
        fed = { ...fed, sequence: written.at(-1)?.sequence ?? sequence }
      }
      reached.set(id, fed)
    }
    const isLast = left > 0
    const compared = isLast ? this.#comparisons(reader, reached, steps) : new Map<Comparing, FedTable>()
    return { steps, reached, compared, isLast }
  }

  /** The next documents of what is compared. */
  #comparisons(
    reader: GuardReader,
    reached: ReadonlyMap<string, FedTable>,
    steps: FeedStep[],
  ): ReadonlyMap<Comparing, FedTable> {
    const places = new Map<Comparing, FedTable>()
    for (const comparing of this.#comparing) {
      const [source, fed] = [this.#parts.find(comparing.id), reached.get(comparing.id)]
      if (source === undefined || fed === undefined || comparing.result !== undefined) continue
      // A table that was made again is compared from its beginning.
      const from = comparing.place?.version === fed.version ? comparing.place.sequence : 0
      const written = reader.writtenAfter(source.collection, from).slice(0, TURN_DOCUMENTS)
      const isLast = written.length < TURN_DOCUMENTS
      steps.push({ kind: 'compare', table: fed.table.name, ...rowsOf(source, written), isFirst: from === 0, isLast })
      places.set(comparing, { ...fed, sequence: written.at(-1)?.sequence ?? from })
    }
    return places
  }

  #keptSteps(): FeedStep[] {
    const old = this.#parts.environment.now() - KEPT_MS
    const unused = [...this.#kept].filter(([, { askedAt }]) => askedAt < old)
    const steps = [
      ...unused.map(([view]) => ({ kind: 'forget', view }) as const),
      ...Array.from(this.#toKeep.values(), (view) => ({ kind: 'keep', view }) as const),
      ...this.#toOrder,
    ]
    this.#toKeep.clear()
    this.#toOrder = []
    return steps
  }
}

/** The writes after a place in a collection that a reader sees. Undefined: too much. */
export function overlayOf(
  source: TableSource,
  reader: GuardReader,
  position: number = 0,
  documentsMax: number = TURN_DOCUMENTS,
): Overlay | undefined {
  const written: Written = []
  for (let from = position; written.length < documentsMax; from = written.at(-1)!.sequence) {
    const more = reader.writtenAfter(source.collection, from)
    if (more.length === 0) return { table: source.table, ...rowsOf(source, written) }
    written.push(...more)
  }
  return undefined
}

type Written = ReturnType<GuardReader['writtenAfter']>

function rowsOf(source: TableSource, written: Written): Pick<Overlay, 'rows' | 'gone'> {
  const rows: NumberedRow[] = []
  const gone: number[] = []
  for (const { number, document } of written) {
    const row = document['_deleted'] === true ? undefined : source.rowOf(document)
    if (row === undefined) gone.push(number)
    else rows.push([number, ...row])
  }
  return { rows, gone }
}
