/**
 * The rows of a live query that follows relations. Changes of related documents lead back to the rows that they may change, and only
 * these are read again. All rows are where that takes less, or where it is not known what has changed.
 */
import { isSame } from '../../codec/collation.ts'
import { encodeIdKey } from '../../codec/key-encoding.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import { documentFields } from '../match.ts'
import { compileProjection } from '../operators/project.ts'
import { compileSortKey } from '../operators/sort.ts'
import type { ChangedDocument, FollowedQuery, MatchingDocuments, News } from '../query-run.ts'
import type { QuerySource } from '../query-source.ts'
import { HeldCount } from './held-count.ts'
import { HeldRows, type HeldRow, type DocumentHolds } from './held-rows.ts'
import type { LiveRequest, LiveView } from './live-types.ts'
import { readRows, readWindow } from './read-rows.ts'

/** Changes that are kept at most; with more of them all rows are read again. */
export const NEWS_MAX = 1000

/** A row with its place, as it was read. */
interface FollowedRow {
  readonly _id: string
  readonly key: string
  readonly revision: string
  readonly row: object
}

/** The commits that were announced to live queries. */
export interface Commits {
  /** The sequence of the last one. */
  readonly sequence: number
  /** Settles with the next one. */
  next(): Promise<void>
}

/** Times that a newer commit than the last announced one may be found; then all rows are read. */
const TRIES_MAX = 3

const NO_HOLDING: DocumentHolds = { hold: () => {}, release: () => {} }

/** The rows that were read, as of that commit. `takeIn` makes it what is held. */
interface ReadRows {
  readonly sequence: number
  /** False: rows are missing. */
  takeIn(): boolean
}

export class FollowedRows {
  readonly #request: LiveRequest
  readonly #query: FollowedQuery
  readonly #held: HeldRows<FollowedRow> | HeldCount
  readonly #isDeep: boolean
  #news: News[] = []
  #isStale = true
  #isBehind = true

  /** `isDeep`: rows before the window are not held. */
  constructor(request: LiveRequest, query: FollowedQuery, isDeep: boolean) {
    const { specification, counts } = request
    const { skip, limit } = specification
    this.#request = request
    this.#query = query
    this.#isDeep = isDeep
    this.#held =
      counts === true
        ? new HeldCount(specification, NO_HOLDING)
        : new HeldRows(isDeep ? 0 : skip, limit, NO_HOLDING, rowOf)
  }

  /** Whether it is behind: something has to be read. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  /** A commit has changed these documents. */
  note(sequence: number, collection: string, changed: readonly ChangedDocument[]): void {
    if (!this.#isStale && !changed.some((one) => this.#query.reads(collection, one))) return
    this.#isBehind = true
    if (this.#isStale) return
    this.#news.push({ sequence, collection, changed })
    if (this.#news.reduce((count, news) => count + news.changed.length, 0) > NEWS_MAX) this.invalidate()
  }

  /** Forgets what is known, as a change is unknown. */
  invalidate(): void {
    this.#isBehind = true
    this.#isStale = true
    this.#news = []
  }

  /** Reads what it has to; undefined: call it again. */
  async read(commits: Commits): Promise<ReadRows | undefined> {
    try {
      return await (this.#isStale ? this.#readAll(commits) : this.#readChanged(commits))
    } catch (error) {
      this.invalidate()
      throw error
    }
  }

  async #readAll(commits: Commits): Promise<ReadRows> {
    this.#news = []
    this.#isStale = this.#isBehind = false
    const known = commits.sequence
    const run = await this.#request.open()
    const { source, query, populate } = run
    const { sequence } = source
    // Between two commits that are announced together: what the next announcement calls new may be in these rows.
    if (sequence !== known) this.#isStale = true
    const held = this.#held
    try {
      if (held instanceof HeldCount) return taking(sequence, await held.read(source, query.condition))
      const found = this.#isDeep
        ? { documents: await readWindow(source, query), complete: true }
        : await readRows(source, query, held.wanted)
      const rows = await rowsOf(source, { documents: found.documents, query, populate })
      return taking(sequence, () => held.reset(rows, found.complete))
    } finally {
      source.release()
    }
  }

  async #readChanged(commits: Commits): Promise<ReadRows | undefined> {
    const source = await this.#openAtNews(commits)
    if (source === undefined) {
      this.invalidate()
      return undefined
    }
    const { sequence } = source
    try {
      const changes = await this.#changes(source)
      if (changes === undefined) {
        this.invalidate()
        return undefined
      }
      return {
        sequence,
        takeIn: () => {
          this.#news = this.#news.filter((news) => news.sequence > sequence)
          this.#isBehind = this.#isStale || this.#news.length > 0
          const isWhole = this.#held.apply(changes)
          if (!isWhole) this.invalidate()
          return isWhole
        },
      }
    } finally {
      source.release()
    }
  }

  /** The newest commit, when all that has changed up to it is in the news. */
  async #openAtNews(commits: Commits): Promise<QuerySource | undefined> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const source = await this.#query.open()
      if (source.sequence === commits.sequence) return source
      source.release()
      if (source.sequence > commits.sequence) await commits.next()
    }
    return undefined
  }

  /** Rows as they are now, by id; undefined: reading all of them takes less. */
  async #changes(source: QuerySource): Promise<ReadonlyMap<string, FollowedRow | undefined> | undefined> {
    const held = this.#held
    const ids = await this.#query.affected(source, this.#news)
    if (ids === undefined || ids.size === 0) return ids && new Map()
    if (this.#isDeep || (held instanceof HeldCount && held.isByRank)) return undefined
    const matching = await this.#query.matching(source, [...ids])
    if (matching === undefined) return undefined
    const changes = new Map<string, FollowedRow | undefined>()
    for (const id of ids) changes.set(id, undefined)
    for (const row of await rowsOf(source, matching)) changes.set(row._id, row)
    return changes
  }

  forget(): void {
    this.#held.forget()
  }

  view(): LiveView {
    return this.#held.view()
  }
}

function taking(sequence: number, takeIn: () => void): ReadRows {
  return {
    sequence,
    takeIn: () => {
      takeIn()
      return true
    },
  }
}

/** Keys first: populated rows have documents where their sort reads ids. */
async function rowsOf(source: QuerySource, { documents, query, populate }: MatchingDocuments): Promise<FollowedRow[]> {
  const { sort, fields, collation } = query
  const sortKey = compileSortKey(sort, documentFields, collation)
  const keys = await source.attempt(() => documents.map(sortKey))
  const revisions = documents.map(({ _rev }) => _rev)
  const ids = documents.map(({ _id }) => _id)
  const rows =
    fields === undefined ? documents : documents.map(compileProjection<StoredDocument>(fields, documentFields))
  await populate?.(rows)
  return ids.map((_id, at) => ({ _id, key: keys[at]!, revision: revisions[at]!, row: rows[at]! }))
}

function rowOf({ _id: id, key: values, revision, row }: FollowedRow, held: HeldRow | undefined): HeldRow {
  const key = values + encodeIdKey(id)
  if (held === undefined || !isSame(held.row, row)) return { key, id, revision, row }
  return held.key === key ? held : { key, id, revision, row: held.row }
}
