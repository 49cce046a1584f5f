/** The result of one step of an update: the rows of some documents, and the changes of the view's trees. */
import type { Key } from '../base/brand.ts'
import type { RunningWork } from '../base/long-work.ts'
import type { Bytes } from '../codec/bytes.ts'
import { numberKey } from '../codec/key-encoding.ts'
import { SORTED_STRINGS_MAX, stringOrder } from '../codec/key-order.ts'
import type { TreeReader, TreeWriter } from '../kv/key-value-store.ts'
import { entryKeysOfList, type MappedRows } from './mapped-rows.ts'

/** Approximate memory of a row in addition to its key and value. */
const ROW_OVERHEAD_BYTES = 120
const DOCUMENT_OVERHEAD_BYTES = 80
/** Documents whose rows are sorted in one go. */
const RUN_DOCUMENTS = 2048

/** Changes of one tree in key order. */
export interface Changes {
  readonly keys: readonly Key[]
  /** Undefined: the entry goes. */
  readonly values: readonly (Bytes | undefined)[]
  /** The entry is there. */
  readonly present: readonly boolean[]
}

type Work = Pick<RunningWork, 'pause'>

interface MappedDocument {
  readonly number: number
  readonly id: string
  readonly rows: MappedRows
  /** The key list of its rows in the view. */
  oldList: Uint8Array | undefined
}

export class ViewChunk {
  readonly #documents: MappedDocument[] = []
  /** The sequence that the snapshot of the step ends with. */
  readonly sequence: number
  #bytes = 0
  #rowCount = 0

  constructor(sequence: number) {
    this.sequence = sequence
  }

  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.#rowCount >= SORTED_STRINGS_MAX / 2
  }

  /** The documents that were deleted. */
  readonly deleted: Set<string> = new Set<string>()

  get documentCount(): number {
    return this.#documents.length
  }

  add(number: number, id: string, rows: MappedRows): void {
    const { entryKeys, values } = rows
    this.#documents.push({ number, id, rows, oldList: undefined })
    this.#rowCount += entryKeys.length
    this.#bytes += DOCUMENT_OVERHEAD_BYTES + id.length + rows.keyList.length + ROW_OVERHEAD_BYTES * entryKeys.length
    for (let at = 0; at < entryKeys.length; at++) this.#bytes += entryKeys[at]!.length + values[at]!.length
  }

  /** Call it first, in a view that already has rows. May miss. `mappedTo`: documents that were made later have no rows in it. */
  findOld(lists: TreeReader, mappedTo: number, from: number, to: number): void {
    const old = this.#documents.slice(from, to).filter(({ number }) => number <= mappedTo)
    const documents = old.sort((left, right) => left.number - right.number)
    if (documents.length === 0) return
    const found = lists.getMany(documents.map(({ number }) => numberKey(number)))
    documents.forEach((document, at) => (document.oldList = found[at]))
  }

  /** `remembers`: each value ends with the number of its document. */
  async rowChanges(remembers: boolean, work: Work): Promise<Changes> {
    return merged(await this.#inRuns((documents) => rowsOf(documents, remembers), work))
  }

  listChanges(work: Work): Promise<Changes> {
    return this.#inRuns(listsOf, work)
  }

  /** Changes of all documents. One sort of all would hold the thread: runs are sorted, and joined two by two. */
  async #inRuns(changesOf: (documents: readonly MappedDocument[]) => Changes, work: Work): Promise<Changes> {
    const runs: Changes[] = []
    for (let from = 0; from < this.#documents.length; from += RUN_DOCUMENTS) {
      runs.push(inOrder(changesOf(this.#documents.slice(from, from + RUN_DOCUMENTS))))
      await work.pause()
    }
    for (let at = 0; at + 1 < runs.length; at += 2) {
      runs.push(joined(runs[at]!, runs[at + 1]!))
      await work.pause()
    }
    return runs.at(-1) ?? { keys: [], values: [], present: [] }
  }
}

function rowsOf(documents: readonly MappedDocument[], remembers: boolean): Changes {
  const keys: Key[] = []
  const values: (string | undefined)[] = []
  const present: boolean[] = []
  for (const { id, number, rows, oldList } of documents) {
    const suffix = remembers ? numberKey(number) : ''
    const old = oldList && new Set(entryKeysOfList(oldList, id))
    for (const [at, key] of rows.entryKeys.entries()) {
      keys.push(key)
      values.push(rows.values[at]! + suffix)
      present.push(old !== undefined && old.delete(key))
    }
    if (old !== undefined)
      for (const key of old) {
        keys.push(key)
        values.push(undefined)
        present.push(true)
      }
  }
  return { keys, values, present }
}

function listsOf(documents: readonly MappedDocument[]): Changes {
  const keys: Key[] = []
  const values: (Bytes | undefined)[] = []
  const present: boolean[] = []
  for (const { number, rows, oldList } of documents) {
    const { keyList } = rows
    if (keyList.length === 0 ? oldList === undefined : oldList !== undefined && sameBytes(keyList, oldList)) continue
    keys.push(numberKey(number))
    values.push(keyList.length === 0 ? undefined : keyList)
    present.push(oldList !== undefined)
  }
  return { keys, values, present }
}

/** Makes the changes from `from` up to `to`. Reads nothing. */
export function makeChanges(tree: TreeWriter, { keys, values, present }: Changes, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const value = values[at]
    if (value === undefined) tree.remove(keys[at]!)
    else if (present[at]!) tree.replace(keys[at]!, value)
    else tree.insert(keys[at]!, value)
  }
}

/** Makes all changes, where the tree is empty and they only fill it; false: it is not so, and nothing was done. Reads nothing. */
export function fillTree(tree: TreeWriter, { keys, values, present }: Changes): boolean {
  if (tree.count() > 0 || present.includes(true) || values.includes(undefined)) return false
  if (keys.length > 0) tree.insertMany(keys, values as readonly Bytes[])
  return true
}

/** Leaves out rows that are there already as they should be. May miss. */
export function withoutEqual(rows: TreeReader, changes: Changes): Changes {
  const { keys, values, present } = changes
  const places = Array.from(keys.keys()).filter((at) => present[at]! && values[at] !== undefined)
  if (places.length === 0) return changes
  const equal = new Set<number>()
  rows.getMany(places.map((at) => keys[at]!)).forEach((value, index) => {
    const at = places[index]!
    if (value !== undefined && sameBytes(values[at]!, value)) equal.add(at)
  })
  const others = Array.from(keys.keys()).filter((at) => !equal.has(at))
  return equal.size === 0 ? changes : picked(changes, others)
}

export function inOrder(changes: Changes): Changes {
  const order = stringOrder(changes.keys)
  return order === undefined ? changes : picked(changes, order)
}

/** Two runs of changes as one, in key order. */
function joined(left: Changes, right: Changes): Changes {
  const [lefts, rights] = [left.keys, right.keys]
  const both = {
    keys: lefts.concat(rights),
    values: left.values.concat(right.values),
    present: left.present.concat(right.present),
  }
  if (rights.length === 0 || lefts.at(-1)! <= rights[0]!) return both
  const result = { keys: [] as Key[], values: [] as (Bytes | undefined)[], present: [] as boolean[] }
  for (let at = 0, other = 0; at < lefts.length || other < rights.length;) {
    const isLeft = other === rights.length || (at < lefts.length && lefts[at]! <= rights[other]!)
    const from = isLeft ? left : right
    const place = isLeft ? at++ : other++
    result.keys.push(from.keys[place]!)
    result.values.push(from.values[place])
    result.present.push(from.present[place]!)
  }
  return result
}

/** The row of a document that was purged, and the same one of a document that came in its place. */
function merged(changes: Changes): Changes {
  const { keys, values, present } = changes
  if (!keys.some((key, at) => at > 0 && key === keys[at - 1])) return changes
  const rows = new Map<Key, { value: Bytes | undefined; present: boolean }>()
  keys.forEach((key, at) => {
    const before = rows.get(key)
    rows.set(key, {
      value: values[at] ?? before?.value,
      present: present[at]! || before?.present === true,
    })
  })
  return {
    keys: [...rows.keys()],
    values: Array.from(rows.values(), ({ value }) => value),
    present: Array.from(rows.values(), (row) => row.present),
  }
}

export function picked({ keys, values, present }: Changes, places: ArrayLike<number>): Changes {
  const result = { keys: [] as Key[], values: [] as (Bytes | undefined)[], present: [] as boolean[] }
  for (let index = 0; index < places.length; index++) {
    const at = places[index]!
    result.keys.push(keys[at]!)
    result.values.push(values[at])
    result.present.push(present[at]!)
  }
  return result
}

export function sameBytes(left: Bytes, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  for (let at = 0; at < right.length; at++)
    if ((typeof left === 'string' ? left.charCodeAt(at) : left[at]) !== right[at]) return false
  return true
}
