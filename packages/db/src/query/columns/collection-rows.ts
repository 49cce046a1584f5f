/**
 * The documents of a collection as rows 0, 1, 2 … in the order of their numbers, so that a column is an array. A row
 * stays as long as these rows live: that of a deleted document is empty, and is taken up again if it comes back.
 */
import type { Key } from '../../base/brand.ts'
import { ID_BYTES_MAX } from '../../codec/key-encoding.ts'
import { textToByteString } from '../../codec/text.ts'
import type { BodyView } from '../../document/body.ts'
import type { QuerySource } from '../query-source.ts'
import { NumberSet } from '../sets/number-set.ts'
import { Follower } from './follower.ts'
import { GrowingArray, nextPosition, positionIn } from './growing-array.ts'
import { KeptSetsReader } from './kept-sets.ts'

/** Numbers of a set that are handled at a time. */
const MARKS_STEP = 4096

/** The key of what may be an id; undefined: it is too long for one, so no document has it. */
export function idKey(text: string): Key | undefined {
  const key = textToByteString(text)
  return key.length > ID_BYTES_MAX ? undefined : (key as Key)
}

/** The number of the document with this id; undefined: no document has it. May miss. */
export function numberOfId({ documents }: QuerySource, id: string): number | undefined {
  const key = idKey(id)
  return key === undefined ? undefined : documents.numbersOf([key])[0]
}

/** `row`: undefined when the document goes. */
type RowListener = (id: string, row: number | undefined) => void

export class CollectionRows extends Follower<undefined> {
  readonly isFull = false
  /** By row, ascending. */
  readonly #numbers: GrowingArray<Float64Array>
  /** By row: 1 where the document lives. */
  readonly #alive: GrowingArray<Uint8Array>
  #documents: number
  /** A document came back whose row is not here. */
  #broken = false
  readonly #listeners = new Set<RowListener>()

  private constructor(sequence: number, numbers: Float64Array) {
    super(sequence)
    this.#numbers = new GrowingArray(numbers)
    this.#alive = new GrowingArray(new Uint8Array(numbers.length).fill(1))
    this.#documents = numbers.length
  }

  /** Makes a row of each live document. */
  static async of(source: QuerySource, check: () => void): Promise<CollectionRows> {
    const reader = await source.attempt(() => new KeptSetsReader(source))
    let live: NumberSet | undefined
    while (live === undefined) {
      check()
      live = (await source.attempt(() => reader.step()))?.live
      await source.pause()
    }
    const numbers = new Float64Array(live.count)
    for (let read = 0; read < live.count; read += MARKS_STEP) {
      check()
      numbers.set(live.page(read, MARKS_STEP), read)
      await source.pause()
    }
    return new CollectionRows(source.documents.bodies.lastNumber, numbers)
  }

  /** Reaches the source's state: learns what it lacks. False if it is ahead of the source, or gets there meanwhile. `check` may throw. */
  reach(source: QuerySource, check: () => void): Promise<boolean> {
    return this.followTo(source, undefined, check)
  }

  /** Rows, the empty ones too. */
  get length(): number {
    return this.#numbers.length
  }

  /** The bytes of memory. */
  get bytes(): number {
    return this.#numbers.bytes + this.#alive.bytes
  }

  /** Whether these are the documents of the source, which it has reached. A purge is not followed. */
  isTrueFor({ documents }: QuerySource): boolean {
    return !this.#broken && this.#documents === documents.count()
  }

  /** The row of the document with this number; -1: no row. */
  rowOf(number: number): number {
    const row = positionIn(this.#numbers.values, this.length, number)
    return this.#numbers.values[row] === number && row < this.length ? row : -1
  }

  numberOf(row: number): number {
    return this.#numbers.values[row]!
  }

  isAlive(row: number): boolean {
    return this.#alive.values[row] === 1
  }

  /** Called from now on with each document that comes or goes. */
  onRow(listener: RowListener): void {
    this.#listeners.add(listener)
  }

  /** For each row, `shift` places on, 1 if its document is in the set. */
  marks(numbers: NumberSet, shift: number): Uint8Array {
    const marks = new Uint8Array(this.length + shift)
    let row = 0
    for (let read = 0; read < numbers.count; read += MARKS_STEP) {
      for (const number of numbers.page(read, MARKS_STEP)) {
        row = nextPosition(this.#numbers.values, this.length, row, number)
        if (this.#numbers.values[row] === number && row < this.length) marks[row + shift] = 1
      }
    }
    return marks
  }

  /** By row: 1 where the document lives, else 0. It is the caller's. */
  livingMarks(): Uint8Array {
    return this.#alive.values.slice(0, this.length)
  }

  /** The numbers of the documents whose rows are marked by 1; others have 0. */
  marked(marks: Uint8Array): NumberSet {
    return NumberSet.marked(this.#numbers.values, marks)
  }

  protected override follow(body: BodyView): void {
    const row = this.rowOf(body.number)
    const lives = !body.deleted
    if (row === -1) {
      if (!lives) return
      if (this.length > 0 && body.number < this.numberOf(this.length - 1)) this.#broken = true
      else this.#add(body)
    } else if (this.isAlive(row) !== lives) {
      this.#alive.values[row] = lives ? 1 : 0
      this.#documents += lives ? 1 : -1
      this.#tell(row, lives, body.id)
    }
  }

  #add(body: BodyView): void {
    this.#tell(this.length, true, body.id)
    this.#numbers.push(body.number)
    this.#alive.push(1)
    this.#documents++
  }

  #tell(row: number, lives: boolean, id: string): void {
    for (const listener of this.#listeners) listener(id, lives ? row : undefined)
  }
}
