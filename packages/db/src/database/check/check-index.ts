/** The integrity check of one index: which entries it should have, and whether it has them. */
import type { Key } from '../../base/brand.ts'
import { isPannierError } from '../../base/errors.ts'
import { keyNumber } from '../../codec/key-encoding.ts'
import type { BodyView } from '../../document/body.ts'
import type { IndexTests } from '../../index/entry-keys.ts'
import type { FieldReader } from '../../index/field-reader.ts'
import type { IndexDefinition } from '../../index/index-definition.ts'
import { decodeList, listKey, textContent, textKeys } from '../../index/text/text-entries.ts'

export class IndexCheck {
  readonly #index: IndexDefinition
  readonly #tests: IndexTests
  readonly #expected = new Set<string>()
  /** Of a text index: the documents that have words. */
  readonly #listed = new Set<string>()

  constructor(index: IndexDefinition, tests: IndexTests) {
    this.#index = index
    this.#tests = tests
  }

  /** A live document, whose fields are loaded. */
  add(body: BodyView, { read }: FieldReader): void {
    const index = this.#index
    if (index.builtTo !== undefined && body.sequence > index.builtTo) return
    if (index.text === undefined) {
      for (const key of this.#tests.keys(index, read, body.number)) this.#expected.add(key)
    } else if (this.#tests.includes(index, read) && textContent(index, read) !== undefined) {
      this.#listed.add(listKey(body.number))
    }
  }

  /** When all documents were added. */
  problems(entries: ReadonlyMap<Key, Uint8Array>): string[] {
    const { name, text } = this.#index
    const expected = this.#expected
    if (text !== undefined) {
      // Which words there are is up to the engine that wrote the document: what it found is listed.
      for (const [key, value] of entries) {
        if (value.length === 0) continue
        expected.add(key)
        try {
          for (const one of textKeys(decodeList(value), keyNumber(key))) expected.add(one)
        } catch (error) {
          if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
          return [`the index '${name}' has a list that cannot be read`]
        }
      }
      const lists = [...entries.keys()].filter((key) => entries.get(key)!.length > 0)
      if (lists.length !== this.#listed.size || lists.some((key) => !this.#listed.has(key)))
        return [`the index '${name}' has the words of ${lists.length} documents, not of ${this.#listed.size}`]
    }
    const missing = [...expected].filter((key) => !entries.has(key as Key)).length
    const wrong = [...entries.keys()].filter((key) => !expected.has(key)).length
    return missing + wrong > 0 ? [`the index '${name}' lacks ${missing} entries and has ${wrong} that are wrong`] : []
  }
}
