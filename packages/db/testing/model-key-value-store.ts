/**
 * The oracle of kv/key-value-store.ts: sorted arrays, copied by each transaction. Slow, and right by being dumb.
 *
 * It is stricter than the contract: a write that is wrong about what is there fails at once, and so does a step that
 * writes before it has read all it needs (its writes would be repeated). With `missChance` reads find things missing in
 * memory, at random from `seed`, so that callers prove that they can be run again; every miss gets further than the last.
 */
import { assert, PannierError } from '../src/base/errors.ts'
import type { CommitSequence, Key } from '../src/base/brand.ts'
import type { MaybePromise } from '../src/base/async.ts'
import type { Reducer } from '../src/btree/reducer.ts'
import { attempt, Miss } from '../src/base/miss.ts'
import { asArray } from '../src/codec/bytes.ts'
import type { Bytes } from '../src/codec/bytes.ts'
import { keyNumber, numberKey } from '../src/codec/key-encoding.ts'
import type {
  CommitNotice,
  Cursor,
  CursorOptions,
  Entry,
  HeldSnapshot,
  HeldTransaction,
  KeyRange,
  KeyValueStore,
  Snapshot,
  TreeKind,
  TreeReader,
  TreeWriter,
  WriteTransaction,
} from '../src/kv/key-value-store.ts'

export interface ModelOptions {
  readonly seed?: number
  /** 0: everything is always in memory. 1: each place misses once after each commit. */
  readonly missChance?: number
}

export function modelKeyValueStore(options: ModelOptions = {}): KeyValueStore {
  return new ModelStore(new Memory(options.seed ?? 1, options.missChance ?? 0))
}

/** What one tree holds. Changed only by the transaction that made it. */
class TreeData {
  readonly kind: TreeKind
  readonly keys: Key[]
  readonly values: Uint8Array[]
  next: number

  constructor(kind: TreeKind, keys: Key[] = [], values: Uint8Array[] = [], next = 1) {
    this.kind = kind
    this.keys = keys
    this.values = values
    this.next = next
  }

  clone(): TreeData {
    return new TreeData(this.kind, [...this.keys], [...this.values], this.next)
  }

  /** The number of entries with a lower key. */
  rank(key: Key): number {
    let low = 0
    let high = this.keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.keys[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }

  bounds(range: KeyRange): [from: number, to: number] {
    const from = range.gte === undefined ? 0 : this.rank(range.gte)
    return [from, range.lt === undefined ? this.keys.length : Math.max(from, this.rank(range.lt))]
  }
}

interface State {
  readonly sequence: CommitSequence
  readonly trees: ReadonlyMap<string, TreeData>
}

/** Places are small where trees begin, so that small trees have several, and as large as pages behind. */
const PLACE_ENTRIES = 4
const SMALL_PLACES = 32
const LARGE_PLACE_ENTRIES = 128

function placeOf(rank: number): number {
  const large = Math.floor(rank / LARGE_PLACE_ENTRIES)
  return large === 0 ? Math.floor(rank / PLACE_ENTRIES) : SMALL_PLACES + large
}

/** Which places (runs of entries) of which trees are in memory. */
class Memory {
  private readonly present = new Set<string>()
  private random: number
  private readonly missChance: number

  constructor(seed: number, missChance: number) {
    this.random = seed >>> 0 || 1
    this.missChance = missChance
  }

  /** Throws a Miss for those of the places that are not there. */
  need(name: string, kind: TreeKind, ranks: readonly number[]): void {
    if (this.missChance === 0 || kind === 'inline') return
    const missing: string[] = []
    for (const rank of ranks) {
      const place = `${name}:${placeOf(rank)}`
      if (this.present.has(place)) continue
      if (this.chance() < this.missChance) missing.push(place)
      else this.present.add(place)
    }
    if (missing.length === 0) return
    throw new Miss(
      async () => {
        await Promise.resolve()
        for (const place of missing) this.present.add(place)
        return () => {}
      },
      () => missing.length,
    )
  }

  forget(): void {
    this.present.clear()
  }

  /** xorshift32. */
  private chance(): number {
    let { random } = this
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    this.random = random >>> 0
    return this.random / 2 ** 32
  }
}

class ModelReader implements TreeReader {
  readonly name: string
  readonly memory: Memory
  data: TreeData

  constructor(name: string, data: TreeData, memory: Memory) {
    this.name = name
    this.data = data
    this.memory = memory
  }

  need(ranks: readonly number[]): void {
    this.memory.need(this.name, this.data.kind, ranks)
  }

  get(key: Key): Uint8Array | undefined {
    return this.getMany([key])[0]
  }

  getMany(keys: readonly Key[]): (Uint8Array | undefined)[] {
    const ranks = keys.map((key) => this.data.rank(key))
    this.need(ranks)
    return ranks.map((rank, at) => (this.data.keys[rank] === keys[at] ? this.data.values[rank] : undefined))
  }

  getSome(keys: readonly Key[], bytesMax: number): (Uint8Array | undefined)[] {
    const values = this.getMany(keys)
    let bytes = 0
    const end = values.findIndex((value, at) => (bytes += value?.length ?? 0) > bytesMax && at > 0)
    return end === -1 ? values : values.slice(0, end)
  }

  count(range?: KeyRange): number {
    if (range === undefined) return this.data.keys.length
    const [from, to] = this.data.bounds(range)
    this.need([from, to])
    return to - from
  }

  rank(key: Key): number {
    const rank = this.data.rank(key)
    this.need([rank])
    return rank
  }

  select(rank: number): Entry | undefined {
    this.need([rank])
    const key = this.data.keys[rank]
    return key === undefined ? undefined : { key, value: this.data.values[rank]! }
  }

  prefetch(): void {}

  cursor(range: KeyRange = {}, options: CursorOptions = {}): Cursor {
    return new ModelCursor(this, range, options)
  }

  reduce<Result>(range: KeyRange, reducer: Reducer<Result>): Result | undefined {
    const [from, to] = this.data.bounds(range)
    const { keys, values } = this.data
    this.need(Array.from({ length: to - from }, (_, at) => from + at))
    if (from === to) return undefined
    return reducer.reduce({ count: to - from, key: (at) => keys[from + at]!, value: (at) => values[from + at]! })
  }

  get lastNumber(): number {
    return this.data.next - 1
  }

  get storedBytes(): undefined {
    return undefined
  }
}

/** Goes by rank in the entries that were there when it was made. */
class ModelCursor implements Cursor {
  private readonly reader: ModelReader
  private readonly data: TreeData
  private readonly step: number
  private readonly end: number
  private at: number

  constructor(reader: ModelReader, range: KeyRange, options: CursorOptions) {
    this.reader = reader
    this.data = reader.data
    const [from, to] = this.data.bounds(range)
    const reverse = options.reverse === true
    const skip = options.skip ?? 0
    this.step = reverse ? -1 : 1
    this.at = reverse ? to - skip : from + skip - 1
    this.end = reverse ? from : to - 1
  }

  next(): boolean {
    const next = this.at + this.step
    if (this.step > 0 ? next > this.end : next < this.end) return false
    this.reader.need([next])
    this.at = next
    return true
  }

  get key(): Key {
    return this.data.keys[this.at]!
  }

  get keyNumber(): number {
    return keyNumber(this.key)
  }

  get value(): Uint8Array {
    return this.data.values[this.at]!
  }
}

class ModelSnapshot implements HeldSnapshot {
  readonly state: State
  readonly memory: Memory

  constructor(state: State, memory: Memory) {
    this.state = state
    this.memory = memory
  }

  get sequence(): CommitSequence {
    return this.state.sequence
  }

  tree(name: string): TreeReader | undefined {
    const data = this.state.trees.get(name)
    return data && new ModelReader(name, data, this.memory)
  }

  treeNames(prefix = ''): string[] {
    return namesOf(this.state.trees, prefix)
  }

  attempt<T>(read: () => T): MaybePromise<T> {
    return attempt(read)
  }

  release(): void {}
}

function namesOf(trees: ReadonlyMap<string, TreeData>, prefix: string): string[] {
  return [...trees.keys()].filter((name) => name.startsWith(prefix)).sort()
}

class ModelTransaction implements WriteTransaction {
  readonly sequence: CommitSequence
  readonly trees: Map<string, TreeData>
  readonly changed = new Map<string, Set<Key>>()
  readonly memory: Memory
  /** Writes so far; a step that misses must not have made any. */
  writes = 0
  ended = false
  private readonly own = new Set<TreeData>()

  constructor(state: State, memory: Memory) {
    this.sequence = state.sequence
    this.trees = new Map(state.trees)
    this.memory = memory
  }

  tree(name: string): TreeWriter | undefined {
    this.check()
    const data = this.trees.get(name)
    return data && new ModelWriter(name, data, this)
  }

  treeNames(prefix = ''): string[] {
    return namesOf(this.trees, prefix)
  }

  createTree(name: string, kind: TreeKind): TreeWriter {
    this.check()
    assert(!this.trees.has(name), `the tree ${name} exists`)
    this.writes++
    this.trees.set(name, new TreeData(kind))
    this.changed.set(name, new Set())
    return this.tree(name)!
  }

  dropTree(name: string): void {
    this.check()
    this.writes++
    assert(this.trees.delete(name), `there is no tree ${name} to drop`)
    this.changed.set(name, new Set())
  }

  /** The tree's entries, as a copy that this transaction may change. */
  change(name: string, key: Key): TreeData {
    this.check()
    this.writes++
    let data = this.trees.get(name)!
    if (!this.own.has(data)) {
      data = data.clone()
      this.own.add(data)
      this.trees.set(name, data)
    }
    let keys = this.changed.get(name)
    if (keys === undefined) this.changed.set(name, (keys = new Set()))
    keys.add(key)
    return data
  }

  view(): HeldSnapshot {
    this.check()
    this.own.clear()
    return new ModelSnapshot({ sequence: this.sequence, trees: new Map(this.trees) }, this.memory)
  }

  attempt<T>(step: () => T): MaybePromise<T> {
    const before = this.writes
    return attempt(() => {
      try {
        return step()
      } catch (thrown) {
        assert(!(thrown instanceof Miss) || this.writes === before, 'a step wrote before it had read all it needs')
        throw thrown
      }
    })
  }

  /** Everything is in memory anyway. */
  relieve(): void {
    this.check()
  }

  private check(): void {
    assert(!this.ended, 'the transaction has ended')
  }
}

class ModelWriter extends ModelReader implements TreeWriter {
  private readonly transaction: ModelTransaction

  constructor(name: string, data: TreeData, transaction: ModelTransaction) {
    super(name, data, transaction.memory)
    this.transaction = transaction
  }

  override need(ranks: readonly number[]): void {
    this.data = this.transaction.trees.get(this.name)!
    super.need(ranks)
  }

  override count(range?: KeyRange): number {
    this.data = this.transaction.trees.get(this.name)!
    return super.count(range)
  }

  override reduce<Result>(range: KeyRange, reducer: Reducer<Result>): Result | undefined {
    this.data = this.transaction.trees.get(this.name)!
    return super.reduce(range, reducer)
  }

  override get lastNumber(): number {
    return this.transaction.trees.get(this.name)!.next - 1
  }

  insert(key: Key, value: Bytes): void {
    const rank = this.change(key)
    assert(this.data.keys[rank] !== key, `insert: the key is there already (${this.name})`)
    this.data.keys.splice(rank, 0, key)
    this.data.values.splice(rank, 0, asArray(value).slice())
  }

  replace(key: Key, value: Bytes): void {
    const rank = this.change(key)
    assert(this.data.keys[rank] === key, `replace: the key is not there (${this.name})`)
    this.data.values[rank] = asArray(value).slice()
  }

  remove(key: Key, valueBytes?: number): void {
    const rank = this.change(key)
    assert(this.data.keys[rank] === key, `remove: the key is not there (${this.name})`)
    assert(valueBytes === undefined || valueBytes === this.data.values[rank]!.length, 'remove: another length')
    this.data.keys.splice(rank, 1)
    this.data.values.splice(rank, 1)
  }

  put(key: Key, value: Bytes): void {
    if (this.get(key) === undefined) this.insert(key, value)
    else this.replace(key, value)
  }

  delete(key: Key): boolean {
    const there = this.get(key) !== undefined
    if (there) this.remove(key)
    return there
  }

  append(value: Uint8Array): number {
    assert(this.data.kind === 'sequence', 'append is for sequence trees')
    const number = this.transaction.trees.get(this.name)!.next
    this.insert(numberKey(number), value)
    this.data.next++
    return number
  }

  insertMany(keys: readonly Key[], values: readonly Bytes[]): void {
    keys.forEach((key, at) => {
      assert(at === 0 || keys[at - 1]! < key, 'insertMany: keys ascend')
      this.insert(key, values[at]!)
    })
  }

  appendMany(values: readonly Uint8Array[]): number {
    const first = this.transaction.trees.get(this.name)!.next
    for (const value of values) this.append(value)
    return first
  }

  private change(key: Key): number {
    this.data = this.transaction.change(this.name, key)
    return this.data.rank(key)
  }
}

class ModelStore implements KeyValueStore {
  readonly databaseId: string = '0'.repeat(32)
  private state: State = { sequence: 0 as CommitSequence, trees: new Map() }
  private readonly memory: Memory
  private readonly listeners = new Set<(notice: CommitNotice) => void>()
  /** Ends when the writers before have ended. */
  private turn: Promise<void> = Promise.resolve()
  private closed = false

  constructor(memory: Memory) {
    this.memory = memory
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    const snapshot = this.snapshot()
    return attempt(() => read(snapshot))
  }

  snapshot(): HeldSnapshot {
    this.checkOpen()
    return new ModelSnapshot(this.state, this.memory)
  }

  async write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    this.checkOpen()
    const end = await this.nextTurn()
    try {
      let transaction!: ModelTransaction
      const result = await attempt(() => {
        transaction = new ModelTransaction(this.state, this.memory)
        return write(transaction)
      })
      this.commit(transaction)
      return result
    } finally {
      end()
    }
  }

  async begin(): Promise<HeldTransaction> {
    this.checkOpen()
    const end = await this.nextTurn()
    const transaction = new ModelTransaction(this.state, this.memory)
    const commit = async (): Promise<void> => {
      assert(!transaction.ended, 'the transaction has ended')
      this.commit(transaction)
      end()
    }
    const rollback = (): void => {
      if (transaction.ended) return
      transaction.ended = true
      end()
    }
    return Object.assign(transaction, { commit, rollback })
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  async refresh(): Promise<void> {}

  async checkpoint(): Promise<void> {
    this.memory.forget()
  }

  async close(): Promise<void> {
    this.closed = true
    await this.turn
  }

  private commit(transaction: ModelTransaction): void {
    transaction.ended = true
    if (transaction.writes === 0) return
    const sequence = (this.state.sequence + 1) as CommitSequence
    this.state = { sequence, trees: transaction.trees }
    this.memory.forget()
    const trees = new Map(Array.from(transaction.changed, ([name, keys]) => [name, { keys: [...keys].sort() }]))
    for (const listener of this.listeners) listener({ sequence, trees, local: true })
  }

  private async nextTurn(): Promise<() => void> {
    const before = this.turn
    let end!: () => void
    this.turn = new Promise((resolve) => (end = resolve))
    await before
    return end
  }

  private checkOpen(): void {
    if (this.closed) throw new PannierError('PANNIER_CLOSED', 'The database is closed.')
  }
}
