/**
 * Sets of the documents on access paths, and how many these are. Entries are walked in steps, and no row is made of
 * them.
 */
import { assert } from '../../base/errors.ts'
import type { BodyView } from '../../document/body.ts'
import { bodyFields } from '../operators/project.ts'
import { BATCH_ROWS_MAX, type EntryRow, type Operator, type Tally } from '../operators/operator.ts'
import { fetchRows, keyScan, type CursorOf } from '../operators/scans.ts'
import { KeptSetsReader } from '../columns/kept-sets.ts'
import { isWhole, type AccessPath } from '../planner/access-path.ts'
import type { KeptSets, QuerySource } from '../query-source.ts'
import { NumberSetBuilder, type NumberSet } from './number-set.ts'

/** Collects the set of the documents on an access path. */
export class SetCollector {
  readonly #source: QuerySource
  readonly #tally: Tally | undefined
  /** Walks: each takes in some numbers, and says whether none are left. */
  readonly #walks: (() => boolean)[] = []
  #keptReader: KeptSetsReader | undefined
  #kept: KeptSets | undefined
  readonly #result: () => NumberSet

  constructor(source: QuerySource, access: AccessPath, tally?: Tally) {
    this.#source = source
    this.#tally = tally
    this.#result = this.#setOf(access)
  }

  /** The set; undefined: call it again. May throw a Miss. */
  step(): NumberSet | undefined {
    const [walk] = this.#walks
    if (walk === undefined) return this.#result()
    if (walk()) this.#walks.shift()
    return undefined
  }

  #setOf(access: AccessPath): () => NumberSet {
    const { kind, branches } = access
    if (isWhole(access)) {
      this.#readKept()
      return () => this.#kept!.live
    }
    switch (kind) {
      case 'missing':
        return this.#missingOf(branches[0]!)
      case 'numbers':
        return () => access.numbers!
      case 'union': {
        const builder = new NumberSetBuilder()
        const others = branches.filter((branch) => !this.#collect(branch, builder)).map((branch) => this.#setOf(branch))
        return () => others.reduce((all, next) => all.or(next()), builder.build())
      }
      case 'intersection': {
        const [first, ...others] = branches
        const start = this.#setOf(first!)
        const steps = others.map((other): ((set: NumberSet) => NumberSet) => {
          const isComplement = other.kind === 'complement'
          const next = this.#setOf(isComplement ? other.branches[0]! : other)
          return (set) => (isComplement ? set.andNot(next()) : set.and(next()))
        })
        return () => steps.reduce((set, step) => step(set), start())
      }
      case 'set':
        return this.#setOf(branches[0]!)
      default: {
        const builder = new NumberSetBuilder()
        assert(this.#collect(access, builder), 'the path has entries')
        return () => builder.build()
      }
    }
  }

  /** Puts a walk before the others, as they may need what it reads. */
  #readKept(): void {
    if (this.#keptReader !== undefined) return
    const reader = (this.#keptReader = new KeptSetsReader(this.#source))
    this.#walks.unshift(() => (this.#kept = reader.step()) !== undefined)
  }

  /** The documents of entries without a value that lack the field. In a transaction nothing is kept of them. */
  #missingOf(entries: AccessPath): () => NumberSet {
    const { path } = entries.bounds[0]!
    const numbers = missingScan(this.#source, entries, path)
    const builder = new NumberSetBuilder()
    if (this.#source.kept !== undefined) this.#readKept()
    this.#walks.push(() => {
      if (this.#kept?.missing.has(path) === true) return true
      const batch = numbers.next(BATCH_ROWS_MAX)
      for (const number of batch ?? []) builder.add(number)
      return batch === undefined
    })
    return () => {
      const set = this.#kept?.missing.get(path) ?? builder.build()
      this.#kept?.missing.set(path, set)
      return set
    }
  }

  /** Adds a walk of a path that has entries of its own; false: it has none. */
  #collect(access: AccessPath, builder: NumberSetBuilder): boolean {
    if ((access.kind !== 'ids' && access.kind !== 'index') || isWhole(access)) return false
    const numbers = numberScan(this.#source, access)
    this.#walks.push(() => {
      const batch = numbers.next(BATCH_ROWS_MAX)
      if (batch === undefined) return true
      for (const number of batch) builder.add(number)
      this.#tally?.add(access, batch.length)
      return false
    })
    return true
  }
}

/** The numbers of the entries of a path along ranges. One may come twice. */
function numberScan(source: QuerySource, access: AccessPath): Operator<number> {
  const { documents } = source
  const options = { reverse: false, skip: 0 }
  if (access.kind === 'ids') {
    const cursor: CursorOf = (range, cursorOptions) => documents.ids(range, cursorOptions)
    return keyScan(access, { ...options, cursor, read: (at) => documents.numberAt(at) })
  }
  const tree = source.index(access.index!)
  const cursor: CursorOf = (range, cursorOptions) => tree.cursor(range, cursorOptions)
  return keyScan(access, { ...options, cursor, read: ({ keyNumber }) => keyNumber })
}

/** The documents of entries without a value that lack the field. */
function missingScan(source: QuerySource, entries: AccessPath, path: string): Operator<number> {
  const read = bodyFields(source.documents)(path)
  const numbers = numberScan(source, entries)
  const rows: Operator<EntryRow> = {
    next: (count) => numbers.next(count)?.map((number) => ({ number, values: undefined })),
  }
  const ofBody = (body: BodyView): number | undefined => (read(body) === undefined ? body.number : undefined)
  return fetchRows(rows, source, { ofBody, ofEntry: () => undefined }, true)
}

/** The set of the documents on a path. `check` is called again and again, and may throw. */
export async function collectSet(source: QuerySource, access: AccessPath, check: () => void): Promise<NumberSet> {
  const collector = await source.attempt(() => new SetCollector(source, access))
  for (;;) {
    check()
    const set = await source.attempt(() => collector.step())
    if (set !== undefined) return set
    await source.pause()
  }
}

/** How many documents are on the path: by exact counts where these tell, by subtraction from all where that is possible. */
export async function countDocuments(source: QuerySource, access: AccessPath, check: () => void): Promise<number> {
  const { kind, branches, distinct } = access
  const counts = async (paths: readonly AccessPath[]): Promise<number> => {
    let total = 0
    for (const path of paths) total += await countDocuments(source, path, check)
    return total
  }
  if (kind === 'intersection' && branches.length === 2 && isWhole(branches[0]!) && branches[1]!.kind === 'complement')
    return branches[0]!.rows - (await counts(branches[1]!.branches))
  if (kind === 'union' && distinct) return counts(branches)
  if (kind === 'set') return counts(branches)
  if (distinct && kind !== 'missing') return access.rows
  return (await collectSet(source, access, check)).count
}
