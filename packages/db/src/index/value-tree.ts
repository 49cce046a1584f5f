/**
 * Numbers the values of an index in the order of arrival, and keeps each encoding once. A value that comes again is
 * found without being encoded again. If most values come only once, it stops looking for them.
 */
import { sortPlaces } from '../codec/key-order.ts'
import { DistinctTexts, type Texts } from './entry-list.ts'
import { encodeIndexValue } from './index-key.ts'

/** Longer strings are found by their encoding, which is cut off at some length, so that they are not kept whole. */
const STRING_CHARS_MAX = 256
/**
 * Approximate memory of a value in addition to its chars: if it is not the last field's, if it is, and if it can't be
 * found.
 */
const NODE_BYTES = 200
const FOUND_BYTES = 100
const TEXT_BYTES = 50
/** This number of values shows whether looking for them pays. */
const TRIED_VALUES = 4096
/** The share of new values above which looking for them does not pay. */
const NEW_SHARE_MAX = 0.5

export class ValueTree implements Texts {
  /** The bytes of memory used, about. */
  bytes = 0
  readonly #root = new ValueNode('')
  /** By number: the encoding of the last field, and where in `parents` those before it are. Some values may be equal. */
  readonly #lasts: string[] = []
  readonly #parentOf: number[] = []
  readonly #parents: ValueNode[] = []
  #added = 0
  #finds = true

  get count(): number {
    return this.#lasts.length
  }

  /** The first node: follow it by one `child` for each field but the last. */
  get start(): ValueNode {
    return this.#root
  }

  /** The encodings of the fields, one after the other. */
  textAt(number: number): string {
    return this.#parents[this.#parentOf[number]!]!.text + this.#lasts[number]!
  }

  child(node: ValueNode, value: unknown, descending: boolean): ValueNode {
    const key = keyOf(value, descending)
    const known = key === value ? (node.plain ??= new Map()) : (node.encoded ??= new Map())
    let child = known.get(key)
    if (child === undefined) {
      child = new ValueNode(node.text + encodeIndexValue(value, descending))
      known.set(key, child)
      this.bytes += NODE_BYTES + child.text.length
    }
    return child
  }

  /** The number of a value whose last field this is; equal ones may have several. */
  add(node: ValueNode, value: unknown, descending: boolean): number {
    if (!this.#finds) {
      this.bytes += TEXT_BYTES
      return this.#push(node, encodeIndexValue(value, descending))
    }
    if (++this.#added === TRIED_VALUES && this.count > TRIED_VALUES * NEW_SHARE_MAX) this.#finds = false
    return this.numberOf(node, value, descending)
  }

  /** As `add`; equal values have one number. */
  numberOf(node: ValueNode, value: unknown, descending: boolean): number {
    const key = keyOf(value, descending)
    const known = key === value ? (node.numbers ??= new Map()) : (node.encodedNumbers ??= new Map())
    let number = known.get(key)
    if (number === undefined) {
      this.bytes += FOUND_BYTES
      known.set(key, (number = this.#push(node, encodeIndexValue(value, descending))))
    }
    return number
  }

  /** First by the parents, as no encoding is the start of another; then by the last fields, which share less. */
  ranks(): Uint32Array {
    const lasts = this.#lasts
    const parentOf = this.#parentOf
    const parentRanks = new DistinctTexts(this.#parents.map(({ text }) => text)).ranks()
    const ends = new Uint32Array(parentRanks.length + 1)
    for (const parent of parentOf) ends[parentRanks[parent]! + 1]!++
    for (let rank = 0; rank < parentRanks.length; rank++) ends[rank + 1]! += ends[rank]!
    const order = new Uint32Array(lasts.length)
    for (let number = 0; number < order.length; number++) order[ends[parentRanks[parentOf[number]!]!]!++] = number
    const ranks = new Uint32Array(lasts.length)
    // By now each place in `ends` holds the end of its parent's.
    for (let parent = 0, start = 0; parent < parentRanks.length; parent++) {
      const end = ends[parent]!
      sortPlaces(lasts, order, start, end)
      for (let rank = start; start < end; start++) {
        if (start > rank && lasts[order[start]!] !== lasts[order[start - 1]!]) rank = start
        ranks[order[start]!] = rank
      }
    }
    return ranks
  }

  #push(node: ValueNode, last: string): number {
    if (node.place < 0) node.place = this.#parents.push(node) - 1
    this.bytes += last.length
    this.#parentOf.push(node.place)
    return this.#lasts.push(last) - 1
  }
}

class ValueNode {
  /** The text of encodings so far. */
  readonly text: string
  /** Among the parents of last fields. */
  place = -1
  /** By the value of the next field: what follows, and if that is the last field its number. */
  plain: Map<unknown, ValueNode> | undefined = undefined
  numbers: Map<unknown, number> | undefined = undefined
  /** By its encoding. */
  encoded: Map<unknown, ValueNode> | undefined = undefined
  encodedNumbers: Map<unknown, number> | undefined = undefined

  constructor(text: string) {
    this.text = text
  }
}

/** The key by which a value is found: itself, or its encoding. */
function keyOf(value: unknown, descending: boolean): unknown {
  const isLong =
    typeof value === 'object' ? value !== null : typeof value === 'string' && value.length > STRING_CHARS_MAX
  return isLong ? encodeIndexValue(value, descending) : value
}
