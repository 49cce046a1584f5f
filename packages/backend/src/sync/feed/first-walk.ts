/**
 * The walk of a first sync: all that an account holds side by side, in the order of ids, each record once. Rows of the index say which
 * records are held, at the target and now. They are of the state of the page or older, and what was written after the target is passed
 * by: so a row says what its record would say. In steps: what misses repeats one of them, and not the page.
 */
import type { RuleRecord } from '@pannier/rules'
import type { RowsById, SnapshotReader } from 'pannier/internal'
import type { FeedPage, PageSource } from './feed-page.ts'
import type { Sweep } from './feed-token.ts'
import type { AccountRule } from '../rules/sync-rules.ts'
import { allOf, holdingsAt, type HoldingsAt, type Span } from './spans.ts'

/** With more grounds a page would seek more than it reads. They are walked one after another. */
const GROUNDS_MAX = 256

/** Whether a first sync walks in the order of ids: it is fixed for a sweep. */
export function isWalkedById(list: AccountRule, held: HoldingsAt): boolean {
  const { length } = spansById(list, held)
  return length > 0 && length <= GROUNDS_MAX
}

/** Rows of a ground are in the order of ids, unless they have a range. */
function spansById(list: AccountRule, held: HoldingsAt): readonly Span[] {
  return allOf(list, held, (index) => list.rule.alternatives[index]!.range === undefined)
}

/** A record that is held. */
interface Found {
  readonly position: string
  readonly number: number
  /** A row of it is held by the target. */
  isIn: boolean
  /** Such a row is held now, too. */
  isSure: boolean
}

/** Continues the walk of a page. Gives its new position; undefined: it is done. */
export async function walkById(reader: SnapshotReader, page: FeedPage, sweep: Sweep): Promise<string | undefined> {
  const { source } = page
  const { rules, holdings, collection } = source
  const target = holdingsAt(rules, holdings(sweep.may), sweep.fromMs)
  const held = new HeldRecords(source, target.list, sweep.after)
  let { after } = sweep
  for (;;) {
    const lot: Found[] = []
    const size = page.lotSize()
    await reader.read(() => held.take(lot, size))
    if (lot.length === 0) return undefined
    if (page.isFull) return after
    const wanted = lot.filter(({ isIn }) => isIn)
    const documents = await reader.read((guard) =>
      guard.numbered(
        collection,
        wanted.map(({ number }) => number),
      ),
    )
    const written = new Map(wanted.map((found, index) => [found, documents[index]]))
    for (const found of lot) {
      if (page.isFull) return after
      page.putHeld(written.get(found), sweep, target, found.isSure)
      after = found.position
    }
  }
}

/** A walk over the rows of one ground. */
interface GroundWalk {
  readonly span: Span
  readonly rows: RowsById
}

/** The records behind all grounds of a target, each once. */
class HeldRecords {
  readonly #target: HoldingsAt
  readonly #now: HoldingsAt
  /** Walks that have not begun. */
  readonly #waiting: GroundWalk[]
  /** Walks that stand at a row, the one with the least id last. */
  readonly #walks: GroundWalk[] = []

  constructor({ rules, rows, now }: PageSource, target: HoldingsAt, after: string) {
    this.#target = target
    this.#now = now.list
    this.#waiting = spansById(rules.list, target).map((span) => ({
      span,
      rows: rows.byId([...span.group, null], after === '' ? undefined : after),
    }))
  }

  /** Adds the next records to a lot. It may miss: then it continues with the same lot. */
  take(lot: Found[], size: number): void {
    for (let walk; (walk = this.#waiting.at(-1)) !== undefined; this.#waiting.pop())
      if (walk.rows.next()) this.#insert(walk)
    for (let walk; (walk = this.#walks.at(-1)) !== undefined;) {
      const { position, number } = walk.rows
      if (lot.at(-1)?.position !== position) {
        if (lot.length >= size) return
        lot.push({ position, number, isIn: false, isSure: false })
      }
      this.#judge(walk, lot.at(-1)!)
      const isThere = walk.rows.next()
      this.#walks.pop()
      if (isThere) this.#insert(walk)
    }
  }

  #judge({ span, rows }: GroundWalk, found: Found): void {
    const { alternative, group } = span
    const side = { range: null, own: (rows.value ?? {}) as RuleRecord }
    found.isIn ||= this.#target.viewer.admits(alternative, side)
    found.isSure ||=
      this.#now.grounds[alternative]?.has(group[1]) === true && this.#now.viewer.admits(alternative, side)
  }

  #insert(walk: GroundWalk): void {
    const { position } = walk.rows
    let [from, to] = [0, this.#walks.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.#walks[middle]!.rows.position > position) from = middle + 1
      else to = middle
    }
    this.#walks.splice(from, 0, walk)
  }
}
