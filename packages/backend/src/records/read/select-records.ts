/** Finds the records of a list: by a query of the library, or one by one where no query can say what is wanted. */
import { evaluate, type BoundRule } from '@pannier/rules'
import { compareSortValues, compile, sortPaths, sortValues, type Compiled } from '@pannier/rules/compile'
import type { Query } from 'pannier'
import { selectionQuery, type SelectionOptions } from 'pannier/internal'
import type { Environment, Selection } from 'pannier/types'
import { ruleRecord, type KnownDefinitions } from '../../access/rule-records.ts'
import { recordsName, RECORDS_PREFIX, type Definition, type ViewDefinition } from '../../definitions/definition.ts'
import { declaredIndexesOf, searchedText } from '../../definitions/library-index.ts'
import type { OrderColumn } from '../../definitions/views/view-reader.ts'
import { isMany } from '../../fields/field-definition.ts'
import { typeOfField } from '../../fields/field-types.ts'
import type { RelationField } from '../../fields/types/relation.ts'
import { randomFraction, type Chance } from '../../gateway/chance.ts'
import type { AnswerBudget } from '../../gateway/answer-room.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { jsonSize } from '../../gateway/json-text.ts'
import { invalid } from '../../gateway/service-error.ts'
import { meeting } from './admitted.ts'
import { CREATED, cursorText, partsBehind, readCursor, sortField, type OrderKey } from './cursor.ts'
import { CREATION, isPath, RANDOM, type SortKey } from './list-request.ts'
import type { RecordSnapshot } from './record-snapshot.ts'

export interface WantedRecords {
  readonly definition: Definition
  readonly definitions: KnownDefinitions
  /** The rule, the filter, and the paths of the sort. */
  readonly bound: BoundRule
  readonly sort: readonly SortKey[]
  readonly skip: number
  readonly limit: number
  /** The cursor that the page follows, or the empty text; `skip` is not asked for then. */
  readonly after?: string | undefined
  readonly withTotal: boolean
  /** The memory for the records of the page. */
  readonly budget: AnswerBudget
}

interface FoundPage {
  readonly documents: readonly JsonObject[]
  /** Undefined if it is not wanted. */
  readonly total: number | undefined
  /** Where the next page begins: null if no record follows, undefined if the page was asked for by its number. */
  readonly nextCursor?: string | null
}

export async function selectRecords(snapshot: RecordSnapshot, wanted: WantedRecords): Promise<FoundPage> {
  const { definition, bound, sort, skip, limit, after, withTotal, budget } = wanted
  await snapshot.prepare(bound)
  if (after !== undefined && sort.some(({ by }) => by === RANDOM))
    throw invalid('A list in random order has no cursors. Leave out "after".')
  if (definition.type === 'view') {
    if (sort.some(({ by }) => by === CREATION)) throw invalid('')
    const page = await keptPage(snapshot, definition, wanted)
    if (page !== undefined) return page
    const rows = await meeting(snapshot, bound, await snapshot.rows(definition))
    const keyed = await keyedRows(snapshot, rows, wanted, after === undefined ? undefined : idOf)
    // Several may have one id.
    return pageOf(
      snapshot,
      keyed.map((one, at) => ({ ...one, row: rows[at] })),
      wanted,
    )
  }
  const listed = await queryOf(snapshot, wanted)
  const { query, order } = listed
  if (order !== undefined) {
    if (after !== undefined) return pageBehind(snapshot, wanted, listed, order)
    const page = query
      .sort(...order.map(sortField))
      .skip(skip)
      .limit(limit)
    const total = withTotal ? await query.count() : undefined
    return { documents: await taken(page, budget), total }
  }
  if (sort[0]!.by === RANDOM) {
    const ids = shuffled((await query.fields('_id').toArray()).map(idOf), snapshot.environment)
    const documents = await snapshot.getWithin(definition, ids.slice(skip, skip + limit), budget)
    return { documents, total: withTotal ? ids.length : undefined }
  }
  const inOrder = query.sort(CREATED)
  const places = after === undefined ? undefined : (await inOrder.fields(CREATED).toArray()).map((one) => one[CREATED])
  const keyed: Keyed[] = []
  for await (const lot of lotsOf(inOrder)) {
    const from = keyed.length
    keyed.push(
      ...(await keyedRows(snapshot, lot, wanted, (_, at) => (places === undefined ? from + at : places[from + at]))),
    )
  }
  return pageOf(snapshot, keyed, wanted)
}

/** The page of a view whose rows the read model keeps, if nothing is asked of them but an order of fields. */
async function keptPage(
  snapshot: RecordSnapshot,
  definition: ViewDefinition,
  { bound, sort, skip, limit, after, withTotal, budget }: WantedRecords,
): Promise<FoundPage | undefined> {
  const order = sort.map(({ by, descending }) => ({ name: by, kind: kindOf(definition, by), descending }))
  const known = order.filter((one): one is OrderColumn => one.kind !== undefined)
  if (after !== undefined || known.length < order.length) return undefined
  const { selection, isExact } = await snapshot.read((records) => compile(bound, records))
  if (!isExact || selection.kind !== 'and' || selection.of.length > 0) return undefined
  const page = await snapshot.page(definition, { order: known, skip, limit, withTotal })
  for (const document of page?.documents ?? []) budget.take(jsonSize(document))
  return page
}

/** Undefined: SQLite would order the values otherwise. */
function kindOf({ fields }: ViewDefinition, name: string): OrderColumn['kind'] | undefined {
  const field = fields.find((one) => one.name === name)
  return field === undefined || isMany(field) ? undefined : typeOfField(field).order
}

/** The documents of a page. @throws ServiceError as `AnswerBudget.take`, as soon as there are too many bytes */
async function taken(page: Query<JsonObject>, budget: AnswerBudget): Promise<JsonObject[]> {
  const documents: JsonObject[] = []
  for await (const document of page) {
    budget.take(jsonSize(document))
    documents.push(document)
  }
  return documents
}

/** Documents in lots that are small enough to be in memory. */
async function* lotsOf(query: Query<JsonObject>): AsyncGenerator<readonly JsonObject[]> {
  let lot: JsonObject[] = []
  let bytes = 0
  for await (const document of query) {
    lot.push(document)
    bytes += jsonSize(document)
    if (lot.length < LOT_ROWS_MAX && bytes < LOT_BYTES_MAX) continue
    yield lot
    lot = []
    bytes = 0
  }
  if (lot.length > 0) yield lot
}

const LOT_ROWS_MAX = 1000
const LOT_BYTES_MAX = 4 * 1024 * 1024

/** The source of a list. */
interface ListedRecords {
  /** All records that are meant, as far as they are in `selection` too. */
  readonly within: (selection: Selection) => Query<JsonObject>
  readonly query: Query<JsonObject>
  /** Undefined: the library can't give the order. */
  readonly order: readonly OrderKey[] | undefined
  readonly isExact: boolean
}

/** All records that are meant, and the order in which the library can give them, if it can. */
export async function queryOf(
  snapshot: RecordSnapshot,
  { definition, definitions, bound, sort }: Omit<WantedRecords, 'budget'>,
): Promise<ListedRecords> {
  const readsViews = bound.collections.some(({ id }) => definitions.find(id)?.type === 'view')
  const { selection, isExact } = readsViews
    ? EVERY
    : await snapshot.read((records): Compiled => compile(bound, records))
  const paths = sortPaths(bound)
  const options: SelectionOptions = {
    nameOf: (name) => recordsName(definitions.find(name)!),
    textOf: (name) => searchedText(definitions.find(name.slice(RECORDS_PREFIX.length))!),
    empty: new Map((paths ?? []).map(({ path, empty }) => [path, empty])),
    ...(isExact
      ? {}
      : {
          residual: (document, guard) => {
            snapshot.budget.check()
            return evaluate(bound, ruleRecord(document), snapshot.rules(guard), snapshot.budget) === true
          },
        }),
  }
  const collection = snapshot.reader.collection(recordsName(definition))
  const within = (part: Selection): Query<JsonObject> =>
    selectionQuery(collection, { kind: 'and', of: [selection, part] }, options)
  const query = selectionQuery(collection, selection, options)
  if (paths === undefined || sort.some(({ by }) => by === RANDOM)) return { within, query, order: undefined, isExact }
  const left = [...paths]
  const keys = sort.map(({ by, descending }): OrderKey => {
    const { path, empty } = by === CREATION ? { path: CREATED } : left.shift()!
    return { path: path === 'id' ? '_id' : path, descending, empty }
  })
  return { within, query, order: withoutRepeats([...keys, tieOf(definition, bound, keys)]), isExact }
}

const EVERY: Compiled = { selection: { kind: 'and', of: [] }, isExact: false }

/**
 * PocketBase's order of rows that agree in the sort: that of creation, or its reverse where an index is read from its end. Without a
 * sort, a query that joins gives them by id.
 */
function tieOf(definition: Definition, { isJoined }: BoundRule, keys: readonly OrderKey[]): OrderKey {
  const path = isJoined && keys.length === 0 ? '_id' : CREATED
  return { path, descending: keys.length > 0 && isReversedIndex(definition, keys), empty: undefined }
}

const reversedIndexes = new WeakMap<Definition, readonly (readonly string[])[]>()

/** Whether a declared index gives the order from its end. */
function isReversedIndex(definition: Definition, keys: readonly OrderKey[]): boolean {
  let reversed = reversedIndexes.get(definition)
  if (reversed === undefined) {
    const inputs = declaredIndexesOf(definition).map(({ input }) => input)
    const whole = inputs.filter(({ where, collation }) => where === undefined && collation === undefined)
    reversed = whole.map(({ on }) => [on].flat().map((path) => (path.startsWith('-') ? path.slice(1) : `-${path}`)))
    reversedIndexes.set(definition, reversed)
  }
  return reversed.some((fields) => keys.every((key, at) => sortField(key) === fields[at]))
}

/** A path that comes again decides nothing. Nor does what comes after a unique one. */
function withoutRepeats(order: readonly OrderKey[]): OrderKey[] {
  const paths = order.map(({ path }) => path)
  const unique = paths.findIndex((path) => path === '_id' || path === CREATED)
  return order.filter((_, index) => index <= unique && paths.indexOf(paths[index]!) === index)
}

/** The records behind a cursor, by ranges of what they are sorted by. */
async function pageBehind(
  snapshot: RecordSnapshot,
  { definition, definitions, bound, limit, after = '', withTotal, budget }: WantedRecords,
  { within, query }: ListedRecords,
  order: readonly OrderKey[],
): Promise<FoundPage> {
  const cursor = readCursor(after, order)
  const collectionOf = (path: readonly string[]): string => {
    let at = definition
    for (const name of path) {
      const field = at.fields.find((one) => one.name === name)
      at = definitions.find((field as RelationField).collectionId)!
    }
    return at.name
  }
  const parts =
    cursor === undefined
      ? [{ selection: EVERY.selection, order: order.map(sortField) }]
      : partsBehind(order, cursor, collectionOf)
  const found: JsonObject[] = []
  for (const part of parts) {
    const isMissing = limit + 1 - found.length
    if (isMissing > 0)
      found.push(
        ...(await taken(
          within(part.selection)
            .sort(...part.order)
            .limit(isMissing),
          budget,
        )),
      )
  }
  const documents = found.slice(0, limit)
  const total = withTotal ? await query.count() : undefined
  if (found.length <= limit) return { documents, total, nextCursor: null }
  const last = documents.at(-1)!
  const [values] = await snapshot.readEach([last], (document, records) =>
    sortValues(bound, ruleRecord(document), records, snapshot.budget),
  )
  const { [CREATED]: place } = (await within({
    kind: 'compare',
    field: 'id',
    isLength: false,
    operator: '=',
    value: idOf(last),
  })
    .fields(CREATED)
    .first())!
  const paths = sortPaths(bound)!.map(({ path }) => path)
  const valueOf = ({ path }: OrderKey): unknown => {
    if (path === CREATED) return place
    return path === '_id' ? idOf(last) : values![paths.indexOf(path)]
  }
  return { documents, total, nextCursor: cursorText(order, order.map(valueOf)) }
}

function idOf(document: JsonObject): string {
  return document['_id'] as string
}

/** A record of a list, and how it is found in it. Its document would take memory. */
interface Keyed {
  readonly id: string
  /** The sort keys; the last one is different for each record. */
  readonly keys: readonly unknown[]
  /** The row of a view, which is in memory anyway. */
  readonly row?: JsonObject | undefined
}

async function pageOf(snapshot: RecordSnapshot, keyed: readonly Keyed[], wanted: WantedRecords): Promise<FoundPage> {
  const { definition, sort, skip, limit, after, withTotal, budget } = wanted
  const total = withTotal ? keyed.length : undefined
  const documents = async (from: readonly Keyed[]): Promise<JsonObject[]> => {
    const kept = from.flatMap(({ row }) => (row === undefined ? [] : [row]))
    for (const row of kept) budget.take(jsonSize(row))
    const ids = from.map(({ id }) => id)
    return definition.type === 'view' ? kept : snapshot.getWithin(definition, ids, budget)
  }
  if (after === undefined) {
    const first = await firstOf(keyed, skip + limit, wanted, snapshot.environment)
    return { documents: await documents(first.slice(skip)), total }
  }
  const order = [...sort, TIE].map(({ by, descending }): OrderKey => ({ path: by, descending, empty: undefined }))
  const cursor = readCursor(after, order)
  const descending = order.map((key) => key.descending)
  const behind =
    cursor === undefined ? keyed : keyed.filter(({ keys }) => compareSortValues(keys, cursor, descending) > 0)
  const page = await firstOf(behind, limit, wanted, snapshot.environment)
  const nextCursor = behind.length > limit ? cursorText(order, page.at(-1)!.keys) : null
  return { documents: await documents(page), total, nextCursor }
}

const TIE: SortKey = { by: '', descending: false }

/** With the values that a list is sorted by. Ties are in the order of what `placeOf` gives, that of the documents by default. */
async function keyedRows(
  snapshot: RecordSnapshot,
  documents: readonly JsonObject[],
  { bound, sort }: WantedRecords,
  placeOf: (document: JsonObject, position: number) => unknown = (_, position) => position,
): Promise<readonly Keyed[]> {
  const computed =
    sort.length === 0
      ? []
      : await snapshot.readEach(documents, (document, records) =>
          sortValues(bound, ruleRecord(document), records, snapshot.budget),
        )
  return documents.map((document, position): Keyed => {
    const values = [...(computed[position] ?? [])]
    const place = placeOf(document, position)
    const keys = sort.map(({ by }) =>
      isPath(by) ? values.shift() : by === RANDOM ? randomFraction(snapshot.environment) : place,
    )
    return { id: idOf(document), keys: [...keys, place] }
  })
}

/** The first rows in order. Others have a turn between two steps. */
async function firstOf(
  rows: readonly Keyed[],
  count: number,
  { sort }: WantedRecords,
  environment: Environment,
): Promise<readonly Keyed[]> {
  const descending = [...sort, TIE].map((key) => key.descending)
  const firstIn = (some: readonly Keyed[]): readonly Keyed[] =>
    some.toSorted((one, other) => compareSortValues(one.keys, other.keys, descending)).slice(0, count)
  let parts: (readonly Keyed[])[] = []
  for (let at = 0; at < rows.length; at += LOT_ROWS_MAX) {
    if (at > 0) await environment.yield()
    parts.push(firstIn(rows.slice(at, at + LOT_ROWS_MAX)))
  }
  while (parts.length > 1) {
    const merged: (readonly Keyed[])[] = []
    for (let at = 0; at < parts.length; at += 2) {
      await environment.yield()
      merged.push(firstIn([...parts[at]!, ...(parts[at + 1] ?? [])]))
    }
    parts = merged
  }
  return parts[0] ?? []
}

function shuffled<T>(items: readonly T[], chance: Chance): T[] {
  const all = [...items]
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(randomFraction(chance) * (i + 1))
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
  return all
}
