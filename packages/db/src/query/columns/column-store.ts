/**
 * The columns of one open database: made when a query first asks for them, brought up to date by each that asks again,
 * forgotten when they take too much memory. They only make queries faster: a query that gets none goes another way.
 */
import type { KeptColumns, QuerySource } from '../query-source.ts'
import { LruMap } from '../../base/lru-map.ts'
import type { CollectionState } from '../../document/catalog.ts'
import { CollectionRows } from './collection-rows.ts'
import { OrderColumn } from './order-column.ts'
import { isCreation, type QuerySpecification } from '../planner/plan.ts'
import { RelationColumn, type RelationSources } from './relation-column.ts'
import { SelectColumn } from './select-column.ts'
import type { Collation } from '../../codec/registered-collation.ts'
import { TextColumn } from './text-column.ts'

/** The number of orders that were asked for once. */
const ASKED_MAX = 64
/** The part of the memory that one order may take. */
const ORDER_SHARE_MAX = 0.5
/** Names of columns that cannot be made: users name the fields of a sort. */
const NONE_MAX = 1000

type Column = TextColumn | SelectColumn | RelationColumn | OrderColumn

/** A value that was computed from collections, and their state then. */
interface Computed {
  readonly bytes: number
  readonly value: unknown
  readonly state: string
}

/** The columns of the source's database; undefined in a transaction, whose writes may never be committed. */
export function columnsOf({ kept }: QuerySource): ColumnStore | undefined {
  if (kept === undefined) return undefined
  const { columns } = kept
  columns.store ??= new ColumnStore(columns.bytesMax)
  return columns.store as ColumnStore
}

export class ColumnStore implements KeptColumns {
  readonly #bytesMax: number
  readonly #rows = new Map<string, CollectionRows>()
  /** The columns, the last used one at the end. */
  readonly #columns = new Map<string, Column | Computed>()
  /** Names of columns that cannot be made. */
  readonly #none = new Set<string>()
  /** Names of orders that a query has asked for. */
  readonly #asked = new LruMap<string, true>(ASKED_MAX)
  /** The columns that are being made: a second query waits rather than makes another. */
  readonly #making = new Map<string, Promise<unknown>>()

  /** `bytesMax`: about how much memory all of them may take. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** About how much memory all of them take. */
  get bytes(): number {
    return this.#bytes('')
  }

  bytesOf(collection: Pick<CollectionState, 'number' | 'epoch'>): number {
    return this.#bytes(nameOf(collection))
  }

  forget(collection: Pick<CollectionState, 'number' | 'epoch'>): void {
    this.#forget(nameOf(collection))
  }

  /** The rows as of the source; undefined if they are ahead of it. */
  async rows(source: QuerySource, check: () => void): Promise<CollectionRows | undefined> {
    const name = nameOf(source.documents.collection)
    const known = this.#rows.get(name)
    if (known !== undefined) {
      if (!(await known.reach(source, check)) || !known.isAt(source)) return undefined
      if (known.isTrueFor(source)) return known
      this.#forget(name)
    }
    const rows = await this.#once(name, () => CollectionRows.of(source, check))
    if (!(await rows.reach(source, check)) || !rows.isAt(source)) return undefined
    const others = this.#rows.get(name)
    if (others !== undefined) return others === rows ? rows : undefined
    this.#rows.set(name, rows)
    return rows
  }

  /** The texts of a field as of the source. */
  text(source: QuerySource, path: string, check: () => void, fold?: Collation): Promise<TextColumn | undefined> {
    return this.#column(source, `text ${fold?.name ?? ''} ${path}`, (rows) => new TextColumn(rows, path, fold), check)
  }

  /** The values of a field as of the source, if it has few different ones. */
  async select(source: QuerySource, path: string, check: () => void): Promise<SelectColumn | undefined> {
    const name = `${nameOf(source.documents.collection)}select ${path}`
    const isKnown = this.#columns.has(name) || this.#none.has(name)
    if (!isKnown && !(await source.attempt(() => SelectColumn.canHold(source, path)))) this.#noMore(name)
    return this.#column(source, `select ${path}`, (rows) => new SelectColumn(rows, path), check)
  }

  /** The order of all documents as of the source, if it fits. Only the second query makes it: it takes as long as several sorts. */
  async order(
    source: QuerySource,
    { sort, collation }: Pick<QuerySpecification, 'sort' | 'collation'>,
    check: () => void,
  ): Promise<OrderColumn | undefined> {
    // The numbers of documents order what is equal.
    const fields = sort.filter(
      (field, at) => at === 0 || at < sort.length - 1 || field.descending || !isCreation(field),
    )
    const kind = `order ${collation?.name ?? ''} ${JSON.stringify(fields)}`
    const name = `${nameOf(source.documents.collection)}${kind}`
    if (!this.#columns.has(name) && this.#asked.get(name) === undefined) {
      this.#asked.set(name, true)
      return undefined
    }
    this.#asked.delete(name)
    const make = (rows: CollectionRows): OrderColumn => {
      return new OrderColumn(rows, fields, collation, this.#bytesMax * ORDER_SHARE_MAX)
    }
    return this.#column(source, kind, make, check)
  }

  /** Where a relation leads as of the sources. */
  async relation(sources: RelationSources, check: () => void): Promise<RelationColumn | undefined> {
    const { source, target, index } = sources
    const name = `${nameOf(source.documents.collection)}relation ${index.fields[0]!.path}`
    const rows = await this.rows(source, check)
    const targets = await this.rows(target, check)
    if (rows === undefined || targets === undefined || this.#none.has(name)) return undefined
    let column = this.#columns.get(name) as RelationColumn | undefined
    if (column?.targets !== targets) {
      column = await this.#once(name, () => RelationColumn.of(rows, targets, sources, check))
    }
    if (!(await column.follows(sources, check))) {
      if (column.isFull) this.#noMore(name)
      return undefined
    }
    return this.isTrue(column, source) && column.targets === this.#rows.get(nameOf(target.documents.collection))
      ? this.#used(name, column)
      : undefined
  }

  /** A value that is computed from collections, and kept as long as none of them changes. */
  async unchanged<Kind extends { readonly bytes: number }>(
    what: string,
    sources: readonly QuerySource[],
    make: () => Promise<Kind>,
  ): Promise<Kind> {
    const name = `${nameOf(sources[0]!.documents.collection)}made ${what}`
    const state = sources
      .map(({ documents }) => {
        return `${nameOf(documents.collection)}${documents.bodies.lastNumber} ${documents.count()}`
      })
      .join()
    const known = this.#columns.get(name) as Computed | undefined
    if (known?.state === state) return this.#used(name, known).value as Kind
    const value = await make()
    this.#used(name, { bytes: value.bytes, value, state })
    return value
  }

  async #column<Kind extends TextColumn | SelectColumn | OrderColumn>(
    source: QuerySource,
    kind: string,
    make: (rows: CollectionRows) => Kind,
    check: () => void,
  ): Promise<Kind | undefined> {
    const name = `${nameOf(source.documents.collection)}${kind}`
    if (this.#none.has(name)) return undefined
    const rows = await this.rows(source, check)
    if (rows === undefined) return undefined
    const column = (this.#columns.get(name) as Kind | undefined) ?? make(rows)
    this.#columns.set(name, column)
    if (!(await column.reach(source, check))) {
      if (column.isFull) this.#noMore(name)
      return undefined
    }
    return this.isTrue(column, source) ? this.#used(name, column) : undefined
  }

  /** Whether it and its rows are as of the source, now that others may have used them meanwhile. */
  isTrue(column: Column, source: QuerySource): boolean {
    return (
      column.isAt(source) &&
      column.rows.isAt(source) &&
      this.#rows.get(nameOf(source.documents.collection)) === column.rows
    )
  }

  #noMore(name: string): void {
    this.#columns.delete(name)
    if (this.#none.size === NONE_MAX) this.#none.clear()
    this.#none.add(name)
  }

  #used<Kind extends Column | Computed>(name: string, column: Kind): Kind {
    this.#columns.delete(name)
    this.#columns.set(name, column)
    for (const other of this.#columns.keys()) {
      if (this.bytes <= this.#bytesMax) break
      if (other !== name) this.#columns.delete(other)
    }
    return column
  }

  #bytes(start: string): number {
    let bytes = 0
    for (const held of [this.#rows, this.#columns])
      for (const [name, one] of held) if (name.startsWith(start)) bytes += one.bytes
    return bytes
  }

  #forget(start: string): void {
    for (const held of [this.#rows, this.#columns, this.#none])
      for (const name of held.keys()) if (name.startsWith(start)) held.delete(name)
  }

  /** Another query may have asked for it, and may have been cancelled since. */
  #once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const making = this.#making.get(name) as Promise<T> | undefined
    if (making !== undefined) return making.catch(() => this.#once(name, make))
    const made = make().finally(() => this.#making.delete(name))
    this.#making.set(name, made)
    return made
  }
}

/** A collection that is dropped and made again has another one. No name is the start of another. */
function nameOf({ number, epoch }: Pick<CollectionState, 'number' | 'epoch'>): string {
  return `${number} ${epoch} `
}
