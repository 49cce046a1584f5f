/**
 * Numbers the values of an index in the order in which they are met, and keeps each one's encoding once. A value that was met
 * before is found as it is, without being encoded again; where most are met but once, they are no longer looked for.
 */
import { encodeIndexValue } from './index-key.ts'

/** Longer strings are found by their encoding, which is cut off at some length, so that they are not kept whole. */
const STRING_CHARS_MAX = 256
/** About what a value costs in memory, beyond its chars: if it is not the last field's, if it is, and if it can't be found. */
const NODE_BYTES = 200
const FOUND_BYTES = 100
const TEXT_BYTES = 50
/** So many values tell whether looking for them pays. */
const TRIED_VALUES = 4096
/** It does not when this share of them is new. */
const NEW_SHARE_MAX = 0.5

export class ValueTree {
  /** By number: the encodings of the fields, one after the other. Some may be equal. */
  readonly texts: string[] = []
  /** Memory used, about. */
  bytes = 0
  readonly #root = new ValueNode('')
  #added = 0
  #finds = true

  /** The first node: follow it by one `child` for each field but the last. */
  get start(): ValueNode {
    return this.#root
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
      const text = node.text + encodeIndexValue(value, descending)
      this.bytes += TEXT_BYTES + text.length
      return this.texts.push(text) - 1
    }
    if (++this.#added === TRIED_VALUES && this.texts.length > TRIED_VALUES * NEW_SHARE_MAX) this.#finds = false
    return this.numberOf(node, value, descending)
  }

  /** As `add`; equal values have one number. */
  numberOf(node: ValueNode, value: unknown, descending: boolean): number {
    const key = keyOf(value, descending)
    const known = key === value ? (node.numbers ??= new Map()) : (node.encodedNumbers ??= new Map())
    let number = known.get(key)
    if (number === undefined) {
      const text = node.text + encodeIndexValue(value, descending)
      number = this.texts.push(text) - 1
      known.set(key, number)
      this.bytes += FOUND_BYTES + text.length
    }
    return number
  }
}

class ValueNode {
  /** The encodings so far. */
  readonly text: string
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

/** What a value is found by: itself, or its encoding. */
function keyOf(value: unknown, descending: boolean): unknown {
  const isLong = typeof value === 'object' ? value !== null : typeof value === 'string' && value.length > STRING_CHARS_MAX
  return isLong ? encodeIndexValue(value, descending) : value
}
