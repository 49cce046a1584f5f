/**
 * The rows of one view, read on demand: the exact count, and rows by rank in blocks. Never holds more than `BLOCKS_MAX`
 * blocks, however many rows match.
 *
 * If an index gives both filter and order, a block is `skip(first).limit(n)`, at the same cost everywhere. Otherwise (a
 * text search in the order of population, for example) each block would walk all rows before it. Then only the first
 * block is read like that. For the others the ids are listed once, and a block is a `get` of its ids.
 */
import type { Collection, Explanation, Stored } from 'pannier'
import type { SearchExplanation } from 'pannier/types'
import type { City } from '../shared/city.ts'
import { answersByRank } from './plan.ts'
import { toSearch, toSelector, toSort } from './view.ts'
import type { Selector, View } from './view.ts'

export interface Measured<T> {
  readonly value: T
  readonly durationMs: number
}

export interface RowsRead {
  readonly first: number
  readonly last: number
  readonly durationMs: number
}

export type ReadExplanation = {
  readonly skip: number
  readonly limit: number
} & ({ readonly plan: Explanation } | { readonly search: SearchExplanation })

/** The common part of a query and a search. */
interface Cities {
  count(): Promise<number>
  skip(rows: number): Cities
  limit(rows: number): Cities
  toArray(): Promise<Stored<City>[]>
  fields(path: '_id'): { signal(signal: AbortSignal): AsyncIterable<{ readonly _id: string }> }
}

const BLOCK_ROWS = 16
const SLICE_MS = 8
const IDS_PER_LOOK = 256
const BLOCKS_MAX = 128

export class Result {
  /** The words to search for; undefined: no search, and the order is `sort`. */
  readonly words: string | undefined
  readonly selector: Selector
  readonly sort: ReturnType<typeof toSort>
  /** The rows read last, and how long that took. */
  lastRead: RowsRead | undefined
  readonly #cities: Collection<City>
  /** In order of use, the least recently used first. */
  readonly #blocks: Map<number, readonly Stored<City>[]> = new Map()
  /** The ids, which are set on first use, as are the fields below. */
  #ids: Promise<string[]> | undefined
  #byRank: Promise<boolean> | undefined
  readonly #abandoned: AbortController = new AbortController()
  readonly #loading: Map<number, Promise<void>> = new Map()

  constructor(cities: Collection<City>, view: View) {
    this.#cities = cities
    this.words = toSearch(view.filter)
    this.selector = toSelector(view.filter)
    this.sort = toSort(view.order)
  }

  /** Abandons the result: nobody looks any more. */
  abandon(): void {
    this.#abandoned.abort()
  }

  async count(): Promise<Measured<number>> {
    const started = performance.now()
    const value = await this.#rows().count()
    return { value, durationMs: performance.now() - started }
  }

  /** Whether any block is found without walking those before it. */
  answersByRank(): Promise<boolean> {
    this.#byRank ??=
      this.words === undefined
        ? this.#query().skip(BLOCK_ROWS).limit(BLOCK_ROWS).explain().then(answersByRank)
        : Promise.resolve(false)
    return this.#byRank
  }

  /** The block that was read last, to be shown with how it was found. */
  async explainRead(): Promise<ReadExplanation> {
    const first = this.lastRead?.first ?? 0
    const skip = Math.floor(first / BLOCK_ROWS) * BLOCK_ROWS
    const block = { skip, limit: BLOCK_ROWS }
    if (this.words !== undefined) return { ...block, search: await this.#search(this.words).explain() }
    return { ...block, plan: await this.#query().skip(skip).limit(BLOCK_ROWS).explain() }
  }

  /** The rows, if they are all in memory. */
  peek(first: number, count: number): Stored<City>[] | undefined {
    const rows: Stored<City>[] = []
    for (let block = Math.floor(first / BLOCK_ROWS); block * BLOCK_ROWS < first + count; block++) {
      const cities = this.#blocks.get(block)
      if (cities === undefined) return undefined
      this.#blocks.delete(block)
      this.#blocks.set(block, cities)
      const from = block * BLOCK_ROWS
      rows.push(...cities.slice(Math.max(0, first - from), first + count - from))
    }
    return rows
  }

  /** Loads rows that are likely to be wanted next, unless that takes more than reading them. */
  async prefetch(first: number, count: number): Promise<void> {
    if (this.#ids !== undefined || (await this.answersByRank())) {
      await Promise.all(this.#loadBlocks(first, count))
    }
  }

  /** Loads rows. Resolves when `peek` has them. */
  async load(first: number, count: number): Promise<void> {
    const started = performance.now()
    const waiting = this.#loadBlocks(first, count)
    if (waiting.length === 0) return
    await Promise.all(waiting)
    this.lastRead = { first, last: first + count - 1, durationMs: performance.now() - started }
  }

  #loadBlocks(first: number, count: number): Promise<void>[] {
    const waiting: Promise<void>[] = []
    for (let block = Math.floor(first / BLOCK_ROWS); block * BLOCK_ROWS < first + count; block++) {
      if (!this.#blocks.has(block)) waiting.push(this.#loadBlock(block))
    }
    return waiting
  }

  #loadBlock(block: number): Promise<void> {
    const underWay = this.#loading.get(block)
    if (underWay !== undefined) return underWay
    const loading = this.#readBlock(block).finally(() => this.#loading.delete(block))
    this.#loading.set(block, loading)
    return loading
  }

  async #readBlock(block: number): Promise<void> {
    const first = block * BLOCK_ROWS
    const direct = (block === 0 && this.#ids === undefined) || (await this.answersByRank())
    const rows = direct ? await this.#rows().skip(first).limit(BLOCK_ROWS).toArray() : await this.#rowsByIds(first)
    this.#blocks.set(block, rows)
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= BLOCKS_MAX) break
      this.#blocks.delete(oldest)
    }
  }

  async #rowsByIds(first: number): Promise<Stored<City>[]> {
    this.#ids ??= this.#listIds()
    const ids = await this.#ids
    const rows = await this.#cities.get(ids.slice(first, first + BLOCK_ROWS))
    return rows.filter((city) => city !== undefined)
  }

  /** The ids of all rows in order. Lets the page breathe in between, as they may be many. */
  async #listIds(): Promise<string[]> {
    const ids: string[] = []
    let sliceStarted = performance.now()
    for await (const { _id } of this.#rows().fields('_id').signal(this.#abandoned.signal)) {
      ids.push(_id)
      if (ids.length % IDS_PER_LOOK > 0 || performance.now() - sliceStarted < SLICE_MS) continue
      await new Promise((resolve) => setTimeout(resolve))
      sliceStarted = performance.now()
    }
    // Rows that agree in what they are sorted by may come in another order here: the first block has to follow it.
    this.#blocks.delete(0)
    return ids
  }

  #rows(): Cities {
    return this.words === undefined ? this.#query() : this.#search(this.words)
  }

  #query(): ReturnType<Collection<City>['find']> {
    return this.#cities.find(this.selector).sort(...this.sort)
  }

  #search(words: string): ReturnType<Collection<City>['search']> {
    return this.#cities.search(words, { selector: this.selector })
  }
}
