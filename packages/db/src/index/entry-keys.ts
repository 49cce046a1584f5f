/**
 * Which entries an index has of a document, whatever kind of index it is. What a partial index's selector says only `query/`
 * knows: it is handed in as a compiler.
 */
import type { IndexDefinition, IndexSelector } from '../document/index-definition.ts'
import { indexKeys } from './index-key.ts'
import type { ReadPath } from './index-key.ts'

/** Tells of a document, given by its fields, whether it is in the index. */
export type SelectorTest = (read: ReadPath) => boolean
/** May miss. */
export type CompileSelector = (index: PartialDefinition) => SelectorTest

type PartialDefinition = Pick<IndexDefinition, 'where' | 'dialect' | 'collation'>

/** The tests of partial indexes, each compiled once. */
export class IndexTests {
  readonly #compile: CompileSelector
  readonly #tests = new WeakMap<IndexSelector, SelectorTest>()

  constructor(compile: CompileSelector) {
    this.#compile = compile
  }

  /** Whether the index has entries of the document. May miss, the first time that it is asked about a selector. */
  includes(index: PartialDefinition, read: ReadPath): boolean {
    return index.where === undefined || this.#of(index, index.where)(read)
  }

  /** Of an index that is no text index. */
  keys(definition: IndexDefinition, read: ReadPath, documentNumber: number): readonly string[] {
    return this.includes(definition, read) ? indexKeys(definition, read, documentNumber) : NO_KEYS
  }

  /** After this `includes` does not miss. */
  load(definitions: readonly PartialDefinition[]): void {
    for (const index of definitions) if (index.where !== undefined) this.#of(index, index.where)
  }

  #of(index: PartialDefinition, where: IndexSelector): SelectorTest {
    let test = this.#tests.get(where)
    if (test === undefined) this.#tests.set(where, (test = this.#compile(index)))
    return test
  }
}

const NO_KEYS: readonly string[] = []
