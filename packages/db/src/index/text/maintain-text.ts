/** Keeps the text indexes of a collection up to date with the documents that are written. Loaded with the first of them. */
import type { Key } from '../../base/brand.ts'
import { indexTreeName, type CollectionState, type IndexDefinition } from '../../document/catalog.ts'
import { existingTree } from '../../document/document-reader.ts'
import type { DocumentWrite } from '../../document/document-write.ts'
import type { TreeWriter, WriteTransaction } from '../../kv/key-value-store.ts'
import { EntryChanges, hasEntries, NO_KEYS, type FieldReader, type IndexTests } from '../index-key.ts'
import { decodeList, encodeList, listKey, textContent, textKeys, type TextContent } from './text-entries.ts'

export class TextMaintenance {
  readonly #tests: IndexTests
  /** Content of text indexes for a document before the write, by the number of the index. */
  readonly #oldTexts = new WeakMap<DocumentWrite, ReadonlyMap<number, TextContent>>()

  constructor(tests: IndexTests) {
    this.#tests = tests
  }

  /** Prepares: reads what `apply` needs. All that are missing in memory are fetched together, index by index. */
  prepare(
    transaction: WriteTransaction,
    collection: CollectionState | undefined,
    writes: readonly DocumentWrite[],
  ): void {
    for (const write of writes) this.#oldTexts.delete(write)
    for (const definition of collection?.indexes ?? []) {
      if (definition.text === undefined) continue
      const known = writes.filter((write) => hasEntries(definition, write))
      if (known.length === 0) continue
      known.sort((left, right) => left.old!.number - right.old!.number)
      const tree = existingTree(transaction, indexTreeName(collection!.number, definition.number))
      tree.getMany(known.map(({ old }) => listKey(old!.number))).forEach((list, at) => {
        if (list === undefined) return
        const write = known[at]!
        const texts = new Map(this.#oldTexts.get(write)).set(definition.number, decodeList(list))
        this.#oldTexts.set(write, texts)
      })
    }
  }

  /** Changes the entries of one index. */
  apply(tree: TreeWriter, definition: IndexDefinition, writes: readonly DocumentWrite[], newFields: FieldReader): void {
    const changes = new EntryChanges()
    const lists: { key: Key; before: TextContent | undefined; after: Uint8Array | undefined }[] = []
    for (const write of writes) {
      const { number, live } = write
      const before = this.#oldTexts.get(write)?.get(definition.number)
      let after: TextContent | undefined
      if (live !== undefined && definition.builtTo === undefined) {
        newFields.load(live)
        if (this.#tests.includes(definition, newFields.read)) after = textContent(definition, newFields.read)
      }
      if (before === undefined && after === undefined) continue
      changes.add(before ? textKeys(before, number) : NO_KEYS, after ? textKeys(after, number) : NO_KEYS)
      lists.push({ key: listKey(number), before, after: after && encodeList(after) })
    }
    changes.apply(tree)
    lists.sort((left, right) => (left.key < right.key ? -1 : 1))
    for (const { key, before, after } of lists) {
      if (after === undefined) tree.remove(key, encodeList(before!).length)
      else if (before !== undefined) tree.replace(key, after)
      else tree.insert(key, after)
    }
  }
}
