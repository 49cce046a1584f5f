/**
 * Numbers the distinct values of an index in the order in which they are met, and keeps each one's encoding once. A value that
 * was met before is found as it is, without being encoded again.
 */
import { encodeIndexValue } from './index-key.ts'

/** Longer strings are found by their encoding, which is cut off at some length, so that they are not kept whole. */
const STRING_CHARS_MAX = 256
/** About what a value costs in memory, beyond its chars. */
const VALUE_BYTES = 200

export class ValueTree {
  /** By number: the encodings of the fields, one after the other. */
  readonly texts: string[] = []
  /** Memory used, about. */
  bytes = 0
  readonly #root = new ValueNode('')

  /** The first node: follow it by one `child` for each field, then ask `numberOf`. */
  get start(): ValueNode {
    return this.#root
  }

  child(node: ValueNode, value: unknown, descending: boolean): ValueNode {
    let known: Map<unknown, ValueNode>
    let key = value
    if (typeof value === 'object' ? value !== null : typeof value === 'string' && value.length > STRING_CHARS_MAX) {
      key = encodeIndexValue(value, descending)
      known = node.encoded ??= new Map()
    } else {
      known = node.plain ??= new Map()
    }
    let child = known.get(key)
    if (child === undefined) {
      child = new ValueNode(node.text + encodeIndexValue(value, descending))
      known.set(key, child)
      this.bytes += VALUE_BYTES + 2 * child.text.length
    }
    return child
  }

  numberOf(node: ValueNode): number {
    if (node.number < 0) node.number = this.texts.push(node.text) - 1
    return node.number
  }
}

export class ValueNode {
  /** The encodings so far. */
  readonly text: string
  number = -1
  /** By the value of the next field. */
  plain: Map<unknown, ValueNode> | undefined = undefined
  /** By its encoding. */
  encoded: Map<unknown, ValueNode> | undefined = undefined

  constructor(text: string) {
    this.text = text
  }
}
