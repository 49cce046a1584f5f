/**
 * The changes of an update in a view that remembers. Each row has the sequence of the update that brought it. A row that leaves, or whose
 * value changes, is kept with the sequence of the update that took it away. So the rows of every earlier update are known.
 *
 *   row      the value of the row; the number of its document, in 6 bytes; the sequence that it came with, in 6 bytes
 *   left     two entries.
 *            By group: the row's key without its last element; the key by time.
 *            By time: the sequence that it left at, in 6 bytes; the entry key of the row.
 *            Both have the value [came with, whether the document was deleted, value], as that of a row.
 */
import type { Key } from '../base/brand.ts'
import { readByteString, type Bytes } from '../codec/bytes.ts'
import { keyNumber, numberKey } from '../codec/key-encoding.ts'
import {
  decodeViewKey,
  decodeViewValue,
  documentIdOf,
  emittedKeyEnd,
  encodeViewKey,
  encodeViewValue,
} from '../codec/view-entry.ts'
import type { TreeReader } from '../kv/key-value-store.ts'
import { inOrder, picked, sameBytes, type Changes } from './view-chunk.ts'

const SEQUENCE_BYTES = 6

/** A row of a view that remembers, on one state. */
export interface RememberedRow {
  /** The document's. */
  readonly id: string
  /** The key as the map function has emitted it. */
  readonly key: readonly unknown[]
  /** The value as the map function has emitted it. */
  readonly value: unknown
  /** The number of its document. */
  readonly number: number
  /** The sequence of the update that brought it. */
  readonly cameAt: number
}

/** A row that has departed. */
export interface DepartedRow extends Omit<RememberedRow, 'number'> {
  /** The sequence of the update that took it away. */
  readonly departedAt: number
  /** Because its document was deleted. */
  readonly deleted: boolean
}

/** The changes of the trees of one step. */
export class RememberedChanges {
  readonly #tree: TreeReader
  readonly #changes: Changes
  readonly #deleted: ReadonlySet<string>
  readonly #sequence: number
  readonly #places: number[] = []
  readonly #byGroup: Entries = new Entries()
  readonly #byTime: Entries = new Entries()

  constructor(tree: TreeReader, changes: Changes, deleted: ReadonlySet<string>, sequence: number) {
    this.#tree = tree
    this.#changes = changes
    this.#deleted = deleted
    this.#sequence = sequence
  }

  /** Takes in the changes from `from` up to `to`. May miss, and has done nothing then. */
  add(from: number, to: number): void {
    const { keys, values, present } = this.#changes
    const end = Math.min(to, keys.length)
    const known = keys.slice(from, end).filter((_, at) => present[from + at])
    const old = known.length === 0 ? [] : this.#tree.getMany(known)
    let next = 0
    for (let at = from; at < end; at++) {
      const before = present[at] ? old[next++] : undefined
      const value = values[at]
      if (before !== undefined && value !== undefined && sameBytes(value, withoutSequence(before))) continue
      this.#places.push(at)
      if (before !== undefined) this.#depart(keys[at]!, before)
    }
  }

  rows(): Changes {
    const { keys, values, present } = picked(this.#changes, this.#places)
    const suffix = numberKey(this.#sequence)
    return { keys, present, values: values.map((value) => (value === undefined ? undefined : textOf(value) + suffix)) }
  }

  departed(): { readonly byGroup: Changes; readonly byTime: Changes } {
    return { byGroup: this.#byGroup.changes(), byTime: this.#byTime.changes() }
  }

  #depart(entryKey: Key, stored: Uint8Array): void {
    const { id, key, value, cameAt } = rememberedRow(entryKey, stored)
    const at = numberKey(this.#sequence)
    const kept = encodeViewValue([cameAt, this.#deleted.has(id), value])
    const byTime = (at + entryKey) as Key
    this.#byGroup.add((groupKey(key.slice(0, -1)) + byTime) as Key, kept)
    this.#byTime.add(byTime, kept)
  }
}

class Entries {
  readonly #keys: Key[] = []
  readonly #values: string[] = []

  add(key: Key, value: string): void {
    this.#keys.push(key)
    this.#values.push(value)
  }

  changes(): Changes {
    return inOrder({ keys: this.#keys, values: this.#values, present: this.#keys.map(() => false) })
  }
}

/** The key by group of what stands at a key by time. */
export function keyByGroup(byTime: Key): Key {
  const key = decodeViewKey(byTime.slice(SEQUENCE_BYTES), NOTHING) as readonly unknown[]
  return (groupKey(key.slice(0, -1)) + byTime) as Key
}

/** When a row departed, by its key by time. */
export function departedAtOf(byTime: Key): number {
  return keyNumber(byTime.slice(0, SEQUENCE_BYTES) as Key)
}

/** The part of keys that a group begins with. */
export function groupKey(group: readonly unknown[]): string {
  return encodeViewKey(group, undefined).bytes
}

/** A row from its entry. */
export function rememberedRow(entryKey: Key, stored: Uint8Array): RememberedRow {
  return {
    id: documentIdOf(entryKey, emittedKeyEnd(entryKey)),
    key: decodeViewKey(entryKey, valueBytes(stored)) as readonly unknown[],
    value: valueOf(stored),
    number: numberOf(stored),
    cameAt: keyNumber(readByteString(stored, stored.length - SEQUENCE_BYTES, stored.length) as Key),
  }
}

/** The value of a row. */
export function valueOf(stored: Uint8Array): unknown {
  return decodeViewValue(valueBytes(stored))
}

/** The number of the document of a row. */
export function numberOf(stored: Uint8Array): number {
  const end = stored.length - SEQUENCE_BYTES
  return keyNumber(readByteString(stored, end - SEQUENCE_BYTES, end) as Key)
}

/** A row that has departed, from its entry by time. */
export function departedRow(byTime: Key, stored: Uint8Array): DepartedRow {
  const departedAt = departedAtOf(byTime)
  const entryKey = byTime.slice(SEQUENCE_BYTES) as Key
  const [cameAt, deleted, value] = decodeViewValue(stored) as [number, boolean, unknown]
  const id = documentIdOf(entryKey, emittedKeyEnd(entryKey))
  return { id, key: decodeViewKey(entryKey, NOTHING) as readonly unknown[], value, cameAt, departedAt, deleted }
}

const NOTHING: Uint8Array = new Uint8Array(0)

function valueBytes(stored: Uint8Array): Uint8Array {
  return stored.subarray(0, stored.length - 2 * SEQUENCE_BYTES)
}

function withoutSequence(stored: Uint8Array): Uint8Array {
  return stored.subarray(0, stored.length - SEQUENCE_BYTES)
}

function textOf(bytes: Bytes): string {
  return typeof bytes === 'string' ? bytes : readByteString(bytes, 0, bytes.length)
}
