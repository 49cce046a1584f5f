/** One collection on any key-value store, written through the document layer and read through queries. */
import { Catalog } from '../src/document/catalog.ts'
import { encodeBatch, guessShapes } from '../src/document/encoded-batch.ts'
import { deleteDocuments, putDocuments } from '../src/document/write-documents.ts'
import { encodeIdKey } from '../src/codec/key-encoding.ts'
import { systemEnvironment } from '../src/database/lifecycle/environment.ts'
import { querySource } from '../src/database/collection/query-source.ts'
import { defineIndexes, parseIndexInput, type IndexInput } from '../src/index/index-definition.ts'
import { indexMaintenance } from '../src/index/maintain-indexes.ts'
import type { KeyValueStore } from '../src/kv/key-value-store.ts'
import type { WhereFilter } from '../src/query/builder.ts'
import type { SelectorMeaning } from '../src/query/ast/parse-selector.ts'
import { createQuery, type Query, type Selector } from '../src/query/query.ts'
import { selectorTest } from '../src/query/selector-test.ts'
import type { KeptMemory, QuerySource } from '../src/query/query-source.ts'

export type Document = { readonly _id: string } & Record<string, unknown>

const NAME = 'documents'

export class QueryFixture {
  readonly store: KeyValueStore
  /** Sources that queries have opened and not let go of. */
  held = 0
  /** What queries keep in memory. */
  private readonly kept: KeptMemory = { columns: { bytesMax: 2 ** 24, store: undefined } }
  private readonly catalog: Catalog
  private readonly indexes: readonly IndexInput[]
  private ids = 0

  constructor(store: KeyValueStore, indexes: readonly IndexInput[]) {
    this.store = store
    this.indexes = indexes
    this.catalog = new Catalog(() => String(++this.ids).padStart(32, '0'))
  }

  async upsert(documents: readonly Document[]): Promise<void> {
    const guess = guessShapes(undefined, false)
    const batch = encodeBatch(documents, guess, () => String(++this.ids))
    await this.store.write((transaction) => putDocuments(transaction, this.context, batch, 'upsert'))
  }

  async delete(ids: readonly string[]): Promise<void> {
    const targets = ids.map((id) => ({ id, key: encodeIdKey(id), revision: undefined }))
    await this.store.write((transaction) => deleteDocuments(transaction, this.context, targets))
  }

  find(selector: Selector<Document> | WhereFilter, meaning?: SelectorMeaning): Query<Document> {
    return createQuery<Document>(() => this.source(), selector, undefined, meaning)
  }

  /** As `find`, as if there were no indexes. */
  scan(selector: Selector<Document>, meaning?: SelectorMeaning): Query<Document> {
    return createQuery<Document>(() => ({ ...this.source(), indexes: [] }), selector, undefined, meaning)
  }

  /** The numbers of the documents, by id. */
  async numbers(): Promise<ReadonlyMap<string, number>> {
    const source = this.source()
    const numbers = new Map<string, number>()
    const cursor = await source.attempt(() => source.documents.scan())
    while (await source.attempt(() => cursor.next())) numbers.set(cursor.body.id, cursor.body.number)
    source.release()
    return numbers
  }

  source(): QuerySource {
    const snapshot = this.store.snapshot()
    this.held++
    return querySource(
      snapshot,
      { catalog: this.catalog, name: NAME, declaredIndexes: () => [] },
      systemEnvironment(),
      () => {
        this.held--
        snapshot.release()
      },
      this.kept,
    )
  }

  private get context(): Parameters<typeof putDocuments>[1] {
    return {
      catalog: this.catalog,
      name: NAME,
      create: (transaction) => {
        const state = this.catalog.create(transaction, NAME)
        return defineIndexes(transaction, this.catalog, state, this.indexes.map(parseIndexInput))
      },
      maintenance: indexMaintenance(selectorTest, () => this.indexes.map(parseIndexInput)),
    }
  }
}
