/**
 * Lists the documents of a collection in the order of their ids, or those with given ids in the given order: CouchDB's
 * `_all_docs`. The start of a list is found by rank; then each row costs its document.
 */
import type { MaybePromise } from '../base/async.ts'
import type { Cursor, KeyRange } from '../kv/key-value-store.ts'
import type { BodyView } from './body.ts'
import type { DocumentReader, StoredDocument } from './document-reader.ts'
import { idKey } from '../codec/key-encoding.ts'
import { conflictsOf } from './stored-revisions.ts'

export interface ListRequest {
  readonly range: KeyRange
  /** Instead of the range. */
  readonly ids: readonly string[] | undefined
  readonly descending: boolean
  readonly skip: number
  /** The limit; Infinity: all. */
  readonly limit: number
  readonly docs: boolean
  /** With `docs`: documents tell their conflicts. */
  readonly conflicts: boolean
}

/** A document. */
export interface ListedRow<T extends object = StoredDocument> {
  /** The id of the document. */
  readonly id: string
  /** The revision of the document. */
  readonly rev: string
  /** With `docs`. */
  readonly doc?: T
}

/** A row of a deleted document that was asked for by its id. */
export interface DeletedRow {
  /** The id of the document. */
  readonly id: string
  /** The revision of its tombstone. */
  readonly rev: string
  /** Marks a deleted document. */
  readonly deleted: true
}

/** There never was a document with this id. */
export interface MissingRow {
  /** The id that was asked for. */
  readonly id: string
  /** Says that there is no such document. */
  readonly error: 'not_found'
}

/** A row of a list by ids: a document, a deleted one, or none. */
export type ListRow<T extends object = StoredDocument> = ListedRow<T> | DeletedRow | MissingRow

interface ListHead {
  /** Documents in the collection. */
  readonly total: number
  /** Documents before the first row, in the direction of the list; undefined for a list by ids, which has no place of its own. */
  readonly offset: number | undefined
  /** The collection's last sequence number: a feed from here on has what is not in the list. */
  readonly seq: number
}

/** Rows, and where they stand in the whole. */
export interface ListPage<Row> extends ListHead {
  /** The rows. */
  readonly rows: Row[]
}

const BATCH_ROWS_MIN = 32
const BATCH_ROWS_MAX = 1024
/** Documents may be large. */
const BATCH_DOCUMENTS_MAX = 128

/** The source of a list, until it is released. */
interface ListSource {
  readonly documents: DocumentReader
  attempt<T>(read: () => T): MaybePromise<T>
  release(): void
}

/** All rows at once. */
export async function readPage(source: ListSource, request: ListRequest): Promise<ListPage<ListRow>> {
  try {
    const head = await source.attempt(() => readListHead(source.documents, request))
    const all: ListRow[] = []
    const rows = listRows(source.documents, request)
    for (;;) {
      const batch = await source.attempt(() => rows.next(BATCH_ROWS_MAX))
      if (batch.length === 0) return { ...head, rows: all }
      for (const row of batch) all.push(row)
    }
  } finally {
    source.release()
  }
}

/** Rows as they are read, in batches that double. */
export async function* eachRow(source: ListSource, request: ListRequest): AsyncGenerator<ListRow, void, undefined> {
  const most = request.docs ? BATCH_DOCUMENTS_MAX : BATCH_ROWS_MAX
  try {
    const rows = listRows(source.documents, request)
    for (let count = BATCH_ROWS_MIN; ; count = Math.min(count * 2, most)) {
      const batch = await source.attempt(() => rows.next(count))
      if (batch.length === 0) return
      yield* batch
    }
  } finally {
    source.release()
  }
}

/** The head of the list. May throw a Miss. */
function readListHead(reader: DocumentReader, { range, ids, descending, skip }: ListRequest): ListHead {
  const total = reader.count()
  const seq = reader.bodies.lastNumber
  if (ids !== undefined) return { total, offset: undefined, seq }
  const { gte, lt } = range
  const isEmpty = gte !== undefined && lt !== undefined && gte >= lt
  const before = descending
    ? lt === undefined
      ? 0
      : reader.countIds({ gte: lt })
    : gte === undefined
      ? 0
      : reader.countIds({ lt: gte })
  return { total, offset: before + (isEmpty ? 0 : Math.min(skip, reader.countIds(range))), seq }
}

/** The rows of a list, batch by batch, from one snapshot. */
interface ListRows {
  /** At most `count` more rows; an empty array at the end. May throw a Miss, and continues when it is called again. */
  next(count: number): ListRow[]
}

function listRows(reader: DocumentReader, request: ListRequest): ListRows {
  return request.ids === undefined ? rowsOfRange(reader, request) : rowsOfIds(reader, request, request.ids)
}

function rowsOfRange(reader: DocumentReader, request: ListRequest): ListRows {
  const { range, descending, skip, limit } = request
  let cursor: Cursor | undefined
  let left = limit
  let numbers: number[] = []
  return {
    next: (count) => {
      cursor ??= reader.ids(range, { reverse: descending, skip })
      while (numbers.length < Math.min(count, left) && cursor.next()) numbers.push(reader.numberAt(cursor))
      const rows = rowsOf(reader, reader.someBodiesOf(numbers), request)
      numbers = numbers.slice(rows.length)
      left -= rows.length
      return rows
    },
  }
}

function rowsOfIds(reader: DocumentReader, request: ListRequest, ids: readonly string[]): ListRows {
  const { descending, skip, limit } = request
  const asked = (descending ? ids.toReversed() : ids).slice(skip, skip + limit)
  let at = 0
  return {
    next: (count) => {
      const batch = asked.slice(at, at + count)
      const numbers = findNumbers(reader, batch)
      const distinct = [...new Set(numbers.filter((number) => number !== undefined))]
      const rows = rowsOf(reader, reader.someBodiesOf(distinct), request)
      const places = new Map(rows.map((row, place) => [distinct[place]!, row]))
      const end = numbers.findIndex((number) => number !== undefined && !places.has(number))
      const idsRead = end === -1 ? batch : batch.slice(0, end)
      at += idsRead.length
      return idsRead.map((id, place) => places.get(numbers[place]!) ?? { id, error: 'not_found' })
    },
  }
}

/** Numbers of the documents with these ids, tombstones included; aligned. */
function findNumbers(reader: DocumentReader, ids: readonly string[]): (number | undefined)[] {
  const found = ids.map(idKey)
  const keys = [...new Set(found)].sort()
  const numbers = reader.withDeleted(keys, reader.numbersOf(keys))
  const byKey = new Map(keys.map((key, at) => [key, numbers[at]]))
  return found.map((key) => byKey.get(key))
}

/** The rows of a list. Bodies that a few conflicts miss are looked up before anything else is done. */
function rowsOf(
  reader: DocumentReader,
  bodies: readonly BodyView[],
  { docs, conflicts }: ListRequest,
): (ListedRow | DeletedRow)[] {
  const conflicting = docs && conflicts ? bodies.map((body) => conflictsOf(reader, body)) : []
  return bodies.map((body, at) => {
    const { id, revision: rev } = body
    if (body.deleted) return { id, rev, deleted: true }
    if (!docs) return { id, rev }
    const doc = reader.decode(body)
    if (conflicting[at] !== undefined) doc['_conflicts'] = conflicting[at]
    return { id, rev, doc }
  })
}
