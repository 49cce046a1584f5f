/**
 * Sets of a collection's documents that are kept in memory from query to query: the live ones, and for a path those that
 * lack it.
 *
 * They are kept by reading. The bodies are in the order of the last write, so what has changed since the sets were last
 * used is one short range of bodies, tombstones included. So they are right for a snapshot, also if other handles wrote.
 * For a snapshot that is older than the sets they are made again, and thrown away.
 *
 * Rows of columns (collection-rows.ts) begin with the live documents and follow the same bodies, but are another thing: they move
 * on in place and take 9 bytes a document. A set never changes, takes a bit a document, and serves transactions and old snapshots.
 */
import { BATCH_ROWS_MAX } from '../operators/operator.ts'
import { bodyFields } from '../operators/project.ts'
import type { KeptSets, QuerySource } from '../query-source.ts'
import { NumberSetBuilder, type NumberSet } from '../sets/number-set.ts'
import { bodiesAfter } from './follower.ts'

/** If more documents have changed, the sets are made again: a walk of all ids reads less. */
const CHANGED_SHARE_MAX = 1 / 8

/** Brings the sets up to the snapshot of a source. */
export class KeptSetsReader {
  readonly #source: QuerySource
  readonly #upTo: number
  #walk: () => KeptSets | undefined

  constructor(source: QuerySource) {
    this.#source = source
    const { documents, kept } = source
    this.#upTo = documents.bodies.lastNumber
    const before = kept?.sets
    const changed = this.#upTo - (before?.upTo ?? -Infinity)
    const isOf = before?.epoch === documents.collection.epoch && changed >= 0
    if (before === undefined || !isOf || changed > documents.count() * CHANGED_SHARE_MAX) this.#walk = this.#afresh()
    else this.#walk = changed === 0 ? () => before : this.#changes(before)
  }

  /** The sets; undefined: call it again. May throw a Miss. */
  step(): KeptSets | undefined {
    const sets = this.#walk()
    if (sets === undefined) return undefined
    const { kept } = this.#source
    const before = kept?.sets
    if (kept !== undefined && !(before?.epoch === sets.epoch && before.upTo >= sets.upTo)) kept.sets = sets
    return sets
  }

  #afresh(): () => KeptSets | undefined {
    const { documents } = this.#source
    const live = new NumberSetBuilder()
    const cursor = documents.ids(undefined, { expected: documents.count() })
    return () => {
      for (let left = BATCH_ROWS_MAX; left > 0; left--) {
        if (!cursor.next()) return this.#setsOf(live.build(), new Map())
        live.add(documents.numberAt(cursor))
      }
      return undefined
    }
  }

  #changes(before: KeptSets): () => KeptSets | undefined {
    const { documents } = this.#source
    const next = bodiesAfter(documents, before.upTo, this.#upTo - before.upTo)
    const fieldOf = bodyFields(documents)
    const changed = new NumberSetBuilder()
    const live = new NumberSetBuilder()
    const missing = Array.from(before.missing, ([path, set]) => {
      return { path, set, read: fieldOf(path), added: new NumberSetBuilder() }
    })
    return () => {
      for (let left = BATCH_ROWS_MAX; left > 0; left--) {
        const body = next()
        if (body === undefined) {
          const others = changed.build()
          const updated = (set: NumberSet, added: NumberSetBuilder): NumberSet => set.andNot(others).or(added.build())
          const all = updated(before.live, live)
          // A document that was purged leaves nothing in the bodies.
          if (all.count !== documents.count()) {
            this.#walk = this.#afresh()
            return undefined
          }
          const sets = missing.map(({ path, set, added }) => [path, updated(set, added)] as const)
          return this.#setsOf(all, new Map(sets))
        }
        const { number, deleted } = body
        changed.add(number)
        if (deleted) continue
        live.add(number)
        for (const { read, added } of missing) if (read(body) === undefined) added.add(number)
      }
      return undefined
    }
  }

  #setsOf(live: NumberSet, missing: Map<string, NumberSet>): KeptSets {
    return { epoch: this.#source.documents.collection.epoch, upTo: this.#upTo, live, missing }
  }
}
