/**
 * Sets of the documents on access paths, and how many these are. Entries are walked in steps, and no row is made of
 * them.
 */
import type { BodyView } from '../../document/body.ts'
import { bodyFields } from '../operators/project.ts'
import { BATCH_ROWS_MAX, type EntryRow, type Operator, type Tally } from '../operators/operator.ts'
import { fetchRows, numberScan } from '../operators/scans.ts'
import { isWhole, type AccessPath } from '../planner/access-path.ts'
import type { QuerySource } from '../query-source.ts'
import { NumberSetBuilder, type NumberSet } from './number-set.ts'

/** Collects the set of the documents on an access path. */
export class SetCollector {
  readonly #source: QuerySource
  readonly #tally: Tally | undefined
  /** Each takes in some numbers, and says whether none are left. */
  readonly #walks: (() => boolean)[] = []
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
    switch (kind) {
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
      default: {
        const builder = new NumberSetBuilder()
        this.#collect(access, builder)
        return () => builder.build()
      }
    }
  }

  /** Adds a walk of a path that has entries of its own; false: it has none. */
  #collect(access: AccessPath, builder: NumberSetBuilder): boolean {
    const numbers = this.#numbersOf(access)
    if (numbers === undefined) return false
    this.#walks.push(() => {
      const batch = numbers.next(BATCH_ROWS_MAX)
      if (batch === undefined) return true
      for (const number of batch) builder.add(number)
      this.#tally?.add(access, batch.length)
      return false
    })
    return true
  }

  #numbersOf(access: AccessPath): Operator<number> | undefined {
    switch (access.kind) {
      case 'ids':
      case 'index':
        return numberScan(this.#source, access)
      case 'missing':
        return missingScan(this.#source, access)
      default:
        return undefined
    }
  }
}

/** The documents of entries without a value that lack the field. */
function missingScan(source: QuerySource, { branches }: AccessPath): Operator<number> {
  const [entries] = branches as [AccessPath]
  const read = bodyFields(source.documents)(entries.bounds[0]!.path)
  const numbers = numberScan(source, entries)
  const rows: Operator<EntryRow> = {
    next: (count) => numbers.next(count)?.map((number) => ({ number, values: undefined })),
  }
  const ofBody = (body: BodyView): number | undefined => (read(body) === undefined ? body.number : undefined)
  return fetchRows(rows, source, { ofBody, ofEntry: () => undefined }, true)
}

/** The set of the documents on a path. `check` is called again and again, and may throw. */
async function collectSet(source: QuerySource, access: AccessPath, check: () => void): Promise<NumberSet> {
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
  if (distinct && kind !== 'missing') return access.rows
  return (await collectSet(source, access, check)).count
}
