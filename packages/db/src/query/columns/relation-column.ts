/**
 * Where a relation leads, row by row: from the rows of one collection to those of another, or of the same. Computed from
 * the relation's index, so no document is read; then it follows the changes of its documents.
 */
import { isPromise } from '../../base/async.ts'
import { prefixUpperBound, decodeKey } from '../../codec/key-encoding.ts'
import type { BodyView } from '../../document/body.ts'
import type { IndexDefinition } from '../../document/catalog.ts'
import { elementsOf, encodeIndexValue } from '../../index/index-key.ts'
import { STEP_ROWS_MAX } from '../operators/operator.ts'
import { bodyFields } from '../operators/project.ts'
import type { QuerySource } from '../query-source.ts'
import type { NumberSet } from '../sets/number-set.ts'
import { numberOfId, type CollectionRows } from './collection-rows.ts'
import { Follower } from './follower.ts'
import { GrowingArray } from './growing-array.ts'

/** The parts of a column, in one snapshot. */
export interface RelationSources {
  readonly source: QuerySource
  readonly target: QuerySource
  /** The index of the relation. */
  readonly index: IndexDefinition
}

/** Ids that lead nowhere and are remembered, in case such documents come. With more there is no column. */
const DANGLING_MAX = 10_000
const NOWHERE = 0

export class RelationColumn extends Follower<RelationSources> {
  readonly rows: CollectionRows
  readonly targets: CollectionRows
  /** By row: 0 if it leads nowhere; one more than the row of its target; or minus the place of a list of such. */
  readonly #to: GrowingArray<Int32Array>
  /** Lists, each behind its length. */
  #lists = new GrowingArray(new Int32Array(1))
  /** Places in `#lists` that nothing leads to. */
  #unused = 0
  /** Ids that led nowhere, and those of documents that have gone: such a document may come back as another row. */
  readonly #dangling = new Set<string>()
  /** The values that have not been looked for since: the target's rows may have been ahead of its ids. */
  readonly #unsure = new Set<string>()
  #isCutOff = false
  /** The rows of those that have come. */
  readonly #came = new Map<string, number>()

  private constructor(rows: CollectionRows, targets: CollectionRows, sources: RelationSources) {
    super(sources.source.documents.bodies.lastNumber)
    this.rows = rows
    this.targets = targets
    this.#to = new GrowingArray(new Int32Array(rows.length))
    targets.onRow((id, row) => {
      if (row === undefined) this.#dangling.add(id)
      else if (this.#dangling.delete(id)) this.#came.set(id, row)
    })
  }

  /** Both collections' rows have reached the sources. */
  static async of(
    rows: CollectionRows,
    targets: CollectionRows,
    sources: RelationSources,
    check: () => void,
  ): Promise<RelationColumn> {
    const column = new RelationColumn(rows, targets, sources)
    column.#isCutOff = !(await column.#fill(sources, check))
    return column
  }

  /** Ids are too long for the index, or too many lead nowhere: the column must not be used any more. */
  get isFull(): boolean {
    return this.#isCutOff || this.#dangling.size > DANGLING_MAX
  }

  /** The bytes of memory. */
  get bytes(): number {
    return this.#to.bytes + this.#lists.bytes
  }

  /** Both collections' rows have reached the sources. */
  async follows(sources: RelationSources, check: () => void): Promise<boolean> {
    if (!(await this.followTo(sources.source, sources, check))) return false
    for (const work of [() => this.#makeSure(sources), () => this.#takeUp(sources)]) {
      check()
      const done = sources.source.attempt(work)
      if (isPromise(done)) await done
    }
    return this.isAt(sources.source) && this.targets.isAt(sources.target)
  }

  /** The living document's row to which a row leads, plus one; 0: it leads nowhere. For relations to one document. */
  targetOf(row: number): number {
    const to = this.#to.values[row]!
    // A document that came back may have another row.
    const target = to >= 0 ? to : (this.#list(to).find((one) => this.targets.isAlive(one - 1)) ?? NOWHERE)
    return target > 0 && this.targets.isAlive(target - 1) ? target : NOWHERE
  }

  /** By `targetOf` how many of the rows with mark 1 have it. Documents that have gone may count for themselves. */
  countTargets(marks: Uint8Array): Uint32Array {
    const counts = new Uint32Array(this.targets.length + 1)
    const to = this.#to.values
    for (let row = 0; row < marks.length; row++) counts[Math.max(to[row]!, NOWHERE)]! += marks[row]!
    this.#eachList((row) => {
      counts[NOWHERE]! -= marks[row]!
      counts[this.targetOf(row)]! += marks[row]!
    })
    return counts
  }

  /** Rows with mark 1 whose `targetOf` has 1 in `hit`, ascending. */
  rowsLeadingTo(hit: Uint8Array, marks: Uint8Array): number[] {
    const rows: number[] = []
    const to = this.#to.values
    for (let row = 0; row < marks.length; row++)
      if ((marks[row]! & hit[Math.max(to[row]!, NOWHERE)]!) === 1 && to[row]! >= 0) rows.push(row)
    const first = rows.length
    this.#eachList((row) => {
      if ((marks[row]! & hit[this.targetOf(row)]!) === 1) rows.push(row)
    })
    return rows.length === first ? rows : rows.sort((left, right) => left - right)
  }

  /** The documents that lead to some of these. */
  leadingTo(targets: NumberSet): NumberSet {
    const hit = this.targets.marks(targets, 1)
    // Those of deleted documents lead nowhere.
    const marks = new Uint8Array(this.rows.length)
    const to = this.#to.values
    for (let row = 0; row < marks.length; row++) marks[row] = hit[Math.max(to[row]!, NOWHERE)]!
    this.#eachList((row, list) => (marks[row] = Number(list.some((one) => hit[one] === 1))))
    return this.rows.marked(marks)
  }

  /** The living documents to which some of these lead. */
  leadingFrom(numbers: NumberSet): NumberSet {
    const from = this.rows.marks(numbers, 0)
    const hit = new Uint8Array(this.targets.length + 1)
    const to = this.#to.values
    for (let row = 0; row < from.length; row++) hit[Math.max(to[row]!, NOWHERE)]! |= from[row]!
    this.#eachList((row, list) => {
      if (from[row] === 1) for (const one of list) hit[one] = 1
    })
    const marks = this.targets.livingMarks()
    for (let row = 0; row < marks.length; row++) marks[row]! &= hit[row + 1]!
    return this.targets.marked(marks)
  }

  protected override follow(body: BodyView, { source, target, index }: RelationSources): void {
    const row = this.rows.rowOf(body.number)
    if (row === -1) return
    this.#to.extend(this.rows.length)
    const value = body.deleted ? undefined : bodyFields(source.documents)(index.fields[0]!.path)(body)
    const ids = index.multi ? elementsOf(value) : [value]
    const texts = [...new Set(ids)].filter((id) => typeof id === 'string')
    this.#put(row, this.#targetsOf(target, texts))
  }

  /** May miss, and then has done nothing. */
  #targetsOf(target: QuerySource, ids: readonly string[]): number[] {
    const numbers = ids.map((id) => numberOfId(target, id))
    return numbers.flatMap((number, at) => {
      if (number !== undefined) return this.targets.rowOf(number) + 1
      this.#dangling.add(ids[at]!)
      this.#unsure.add(ids[at]!)
      return []
    })
  }

  /** `targets`: rows, plus one. */
  #put(row: number, targets: readonly number[]): void {
    const old = this.#to.values[row]!
    if (old < 0) this.#unused += 1 + this.#lists.values[-old]!
    if (targets.length < 2) this.#to.values[row] = targets[0] ?? NOWHERE
    else {
      this.#to.values[row] = -this.#lists.length
      this.#lists.push(targets.length)
      for (const target of targets) this.#lists.push(target)
    }
    if (this.#unused > this.#lists.length / 2) this.#pack()
  }

  #list(to: number): Int32Array {
    const { values } = this.#lists
    return values.subarray(1 - to, 1 - to + values[-to]!)
  }

  /** Calls back with the lists, apart from the others: loops without calls are fast. */
  #eachList(take: (row: number, list: Int32Array) => void): void {
    if (this.#lists.length === 1) return
    const to = this.#to.values
    for (let row = 0; row < this.#to.length; row++) if (to[row]! < 0) take(row, this.#list(to[row]!))
  }

  /** Leaves out lists that nothing leads to. */
  #pack(): void {
    const packed = new GrowingArray(new Int32Array(1))
    const to = this.#to.values
    for (let row = 0; row < this.#to.length; row++) {
      if (to[row]! >= 0) continue
      const list = this.#list(to[row]!)
      to[row] = -packed.length
      packed.push(list.length)
      for (const target of list) packed.push(target)
    }
    this.#lists = packed
    this.#unused = 0
  }

  /** May miss, and is then called again. */
  #makeSure({ source, target }: RelationSources): void {
    if (!this.isAt(source) || !this.targets.isAt(target)) return
    for (const id of this.#unsure) {
      const number = numberOfId(target, id)
      this.#unsure.delete(id)
      if (number !== undefined && this.#dangling.delete(id)) this.#came.set(id, this.targets.rowOf(number))
    }
  }

  /** Documents that were waited for have come: the relation's index knows who refers to them. May miss, and is then called again. */
  #takeUp({ source, index }: RelationSources): void {
    if (!this.isAt(source)) return
    for (const [id, target] of this.#came) {
      const prefix = encodeIndexValue(id, index.fields[0]!.descending)
      const cursor = source.index(index).cursor({ gte: prefix as never, lt: prefixUpperBound(prefix) })
      const found: number[] = []
      while (cursor.next()) found.push(this.rows.rowOf(cursor.keyNumber))
      for (const row of found) {
        const to = this.#to.values[row]!
        const others = to < 0 ? [...this.#list(to)] : to === NOWHERE ? [] : [to]
        if (!others.includes(target + 1)) this.#put(row, [...others, target + 1])
      }
      this.#came.delete(id)
    }
  }

  /** From the index. False if it does not hold whole ids. */
  async #fill({ source, target: related, index }: RelationSources, check: () => void): Promise<boolean> {
    const cursor = source.index(index).cursor()
    const { descending } = index.fields[0]!
    let prefix: string | undefined
    let target = NOWHERE
    let isAtEntry = false
    const pairs = { rows: new GrowingArray(new Int32Array(0)), targets: new GrowingArray(new Int32Array(0)) }
    const step = (): 'more' | 'done' | 'cut off' => {
      for (let looked = 0; looked < STEP_ROWS_MAX; looked++) {
        isAtEntry ||= cursor.next()
        if (!isAtEntry) return 'done'
        const { key } = cursor
        if (prefix === undefined || !key.startsWith(prefix)) {
          const { value, next, exact } = decodeKey(key, 0, descending)
          if (!exact) return 'cut off'
          target = typeof value === 'string' ? (this.#targetsOf(related, [value])[0] ?? NOWHERE) : NOWHERE
          prefix = key.slice(0, next)
        }
        isAtEntry = false
        if (target === NOWHERE) continue
        pairs.rows.push(this.rows.rowOf(cursor.keyNumber))
        pairs.targets.push(target)
      }
      return 'more'
    }
    for (;;) {
      check()
      const attempted = source.attempt(step)
      const state = isPromise(attempted) ? await attempted : attempted
      if (state === 'cut off') return false
      if (state === 'done') break
      const paused = source.pause()
      if (isPromise(paused)) await paused
    }
    this.#putPairs(pairs.rows, pairs.targets)
    return true
  }

  #putPairs(rows: GrowingArray<Int32Array>, targets: GrowingArray<Int32Array>): void {
    const counts = new Int32Array(this.rows.length)
    for (let at = 0; at < rows.length; at++) counts[rows.values[at]!]!++
    const to = this.#to.values
    for (let row = 0; row < counts.length; row++) {
      if (counts[row]! < 2) continue
      to[row] = -this.#lists.length
      this.#lists.extend(this.#lists.length + 1 + counts[row]!)
    }
    for (let at = 0; at < rows.length; at++) {
      const row = rows.values[at]!
      if (to[row]! >= 0) to[row] = targets.values[at]!
      else this.#lists.values[-to[row]! + ++this.#lists.values[-to[row]!]!] = targets.values[at]!
    }
  }
}
