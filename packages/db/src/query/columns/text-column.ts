/**
 * The texts of one field, folded, for `$contains`. Rows stand one after the other in long strings, in which engines
 * search fast. What has changed since is kept beside them, until it is worth while to make a string again.
 */
import { isArrayLike } from '../../codec/collation.ts'
import type { BodyView } from '../../document/body.ts'
import { bodyFields } from '../operators/project.ts'
import type { QuerySource } from '../query-source.ts'
import { NumberSetBuilder, type NumberSet } from '../sets/number-set.ts'
import type { Collation } from '../../codec/registered-collation.ts'
import { foldText, type ReadField } from '../match.ts'
import type { CollectionRows } from './collection-rows.ts'
import { Follower } from './follower.ts'
import { positionIn } from './growing-array.ts'

/** Rows of one string. */
const BLOCK_ROWS = 4096
/** Changed rows of a block, beyond which its string is made again. */
const CHANGES_MAX = 512
/** The separator between texts. A searched text with it is not looked for here. */
const SEPARATOR = '\0'
/** In memory, of one changed row beside its characters. */
const CHANGE_BYTES = 64

interface Block {
  text: string
  /** By row, where its text begins; one more for the end. */
  starts: Uint32Array
  /** By row of the block: the text now. */
  readonly changes: Map<number, string>
}

export class TextColumn extends Follower<ReadField<BodyView>> {
  readonly rows: CollectionRows
  readonly #blocks: Block[] = []
  readonly #path: string
  readonly #fold: (text: string) => string
  /** The bytes of memory that it takes, about. */
  bytes = 0
  /** There is no limit to texts. */
  readonly isFull = false

  constructor(rows: CollectionRows, path: string, fold?: Collation) {
    super(0)
    this.rows = rows
    this.#path = path
    this.#fold = fold?.key ?? foldText
  }

  /** Whether it can look for this text. */
  static canFind(text: string): boolean {
    return text !== '' && !text.includes(SEPARATOR)
  }

  /** As that of its rows, which have reached the source. */
  reach(source: QuerySource, check: () => void): Promise<boolean> {
    return this.followTo(source, bodyFields(source.documents)(this.#path), check)
  }

  /** The documents that have this in their text, or in a text of their array. The column has reached the source. */
  containing(text: string): NumberSet {
    const folded = this.#fold(text)
    const { rows } = this
    const found = new NumberSetBuilder()
    const add = (row: number): void => {
      if (row < rows.length && rows.isAlive(row)) found.add(rows.numberOf(row))
    }
    this.#blocks.forEach(({ text: all, starts, changes }, at) => {
      const first = at * BLOCK_ROWS
      let hit = all.indexOf(folded)
      while (hit !== -1 && hit < all.length) {
        const row = positionIn(starts, starts.length, hit + 1) - 1
        if (!changes.has(row)) add(first + row)
        hit = all.indexOf(folded, starts[row + 1])
      }
      for (const [row, changed] of changes) if (changed.includes(folded)) add(first + row)
    })
    return found.build()
  }

  protected override follow(body: BodyView, read: ReadField<BodyView>): void {
    const row = this.rows.rowOf(body.number)
    if (row === -1) return
    const text = body.deleted ? '' : textOf(read(body), this.#fold)
    const block = this.#blockOf(row)
    block.changes.set(row % BLOCK_ROWS, text)
    this.bytes += text.length + CHANGE_BYTES
    if (block.changes.size > CHANGES_MAX) this.#merge(block)
  }

  #blockOf(row: number): Block {
    const at = Math.floor(row / BLOCK_ROWS)
    while (this.#blocks.length <= at) this.#blocks.push({ text: '', starts: new Uint32Array(1), changes: new Map() })
    return this.#blocks[at]!
  }

  #merge(block: Block): void {
    const { text, starts, changes } = block
    const rows = Math.max(starts.length - 1, ...changes.keys()) + 1
    const texts: string[] = []
    const merged = new Uint32Array(rows + 1)
    for (let row = 0; row < rows; row++) {
      const old = row + 1 < starts.length ? text.slice(starts[row], starts[row + 1]! - SEPARATOR.length) : ''
      const now = changes.get(row) ?? old
      texts.push(now, SEPARATOR)
      merged[row + 1] = merged[row]! + now.length + SEPARATOR.length
    }
    this.bytes -= text.length + starts.byteLength
    for (const changed of changes.values()) this.bytes -= changed.length + CHANGE_BYTES
    changes.clear()
    block.text = texts.join('')
    block.starts = merged
    this.bytes += block.text.length + merged.byteLength
  }
}

/** The text of a value; the texts of an array with separators between them. What is no text contains none. */
function textOf(value: unknown, fold: (text: string) => string): string {
  if (typeof value === 'string') return fold(value)
  if (!isArrayLike(value)) return ''
  const texts: string[] = []
  for (let at = 0; at < value.length; at++) {
    const element: unknown = value[at]
    if (typeof element === 'string') texts.push(fold(element))
  }
  return texts.join(SEPARATOR)
}
