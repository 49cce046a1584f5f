/**
 * One page of a feed, read from one state of the database. The feed is the difference of two states of what an account sees.
 * docs/internals/ruled-sync.md is the contract. Synchronous: what it reads may miss, and then it runs again.
 */
import type { RuleRecord } from '@pannier/rules'
import type { Holdings } from '@pannier/rules/cut'
import type { GuardReader, DepartedRow, Positioned, RememberedRows, WrittenDocument } from 'pannier/internal'
import { ruleRecord } from '../../access/rule-records.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { jsonSize } from '../../gateway/json-text.ts'
import type { FeedToken, Reached, Sweep } from './feed-token.ts'
import type { Part } from './part.ts'
import { ReachedState } from './reached-state.ts'
import { withheld } from '../rules/ruled-fields.ts'
import { allOf, countIn, holdingsAt, type AllHoldingsAt, type HoldingsAt, type Span } from './spans.ts'
import type { AccountRule, AccountRules } from '../rules/sync-rules.ts'

/** The steps of a replica, in this order. */
export type FeedRow =
  /** The replica forgets a record. `deleted`: nobody has it any more. */
  | { readonly left: string; readonly deleted: boolean }
  /** The replica has the record, without some of the fields. `mark`: all records come. */
  | { readonly document: JsonObject; readonly without: ReadonlySet<string>; readonly mark?: string }
  /** As before, and it has this revision already. */
  | { readonly id: string; readonly rev: string; readonly mark: string }
  /** The replica forgets all records without this mark. */
  | { readonly end: string }

/** The source of a page. */
export interface PageSource {
  readonly guard: GuardReader
  /** The library's name of the collection. */
  readonly collection: string
  readonly rows: RememberedRows
  readonly rules: AccountRules
  readonly account: FeedToken['account']
  /** The part of the collection that the replica wants. */
  readonly part: Part
  /** By their names. */
  readonly holdings: (name: string) => Holdings
  /** The current holdings of the account. */
  readonly now: AllHoldingsAt
  /** Whether the replica says that it has a revision of a record, as it is shown now. */
  readonly has: Has
}

/** Whether a replica claims to have this revision. */
export type Has = (id: string, rev: string) => boolean

/** How much a page may have: rows, and entries that are looked at. */
export interface PageLimits {
  /** Rows that it gives, at most. */
  rows: number
  /** Entries of indexes that it looks at, at most. */
  entries: number
  /** Bytes of the documents that it reads, about. One row of them comes at least. */
  bytes: number
}

/** Documents that are read together while their size is not known. */
const LOT_ROWS = 32

export class FeedPage {
  readonly rows: FeedRow[] = []
  readonly source: PageSource
  readonly #limits: PageLimits
  readonly #told = new Set<string>()
  #weighed = 0
  #weighedBytes = 0

  constructor(source: PageSource, limits: PageLimits) {
    this.source = source
    this.#limits = limits
  }

  /** Continues a sweep. Gives its new place; undefined: it is done. */
  walk(reached: Reached | undefined, sweep: Sweep): Sweep | undefined {
    const state = reached && new ReachedState(this.source, reached)
    const target = holdingsAt(this.source.rules, this.source.holdings(sweep.may), sweep.fromMs)
    // The walk by ids (first-walk.ts) comes first. It leaves ranges to this one.
    const first = sweep.byId ? [() => undefined, this.#gained] : [this.#gained]
    const parts = state === undefined ? first : [this.#lost, this.#left, this.#gained, this.#changed, this.#shown]
    let { part, span, after } = sweep
    for (; part < parts.length; part++, span = 0, after = '') {
      const stopped = parts[part]!.call(this, { state, sweep, span, after, target })
      if (stopped !== undefined) return { ...sweep, part, ...stopped }
    }
    if (sweep.mark !== undefined) this.rows.push({ end: sweep.mark })
    return undefined
  }

  /** Rows of what the account has no more. */
  #lost({ state, sweep, target, span, after }: Walk): Stop | undefined {
    const { sequence, may } = state!
    const spans = state!.lost(target, sweep.fromMs)
    return this.#spans(spans, span, after, ({ alternative, group, range }, from) => {
      const { rows } = this.source
      return this.#eachWritten(rows.rows(group, range, from), from, ({ id, key, value, cameAt }, written) => {
        const isHad = cameAt <= sequence && may.list.viewer.admits(alternative, sideOf(key, value))
        if (!isHad) return
        if (!this.#isIn(target, sweep, written) && !this.#wasOutside(sequence, written)) this.#leave(id, false)
      })
    })
  }

  /** Rows that have left the index. */
  #left({ state, sweep, target, span, after }: Walk): Stop | undefined {
    const { rows } = this.source
    const { list } = this.source.rules
    const { sequence, may } = state!
    const tell = (row: Positioned<DepartedRow>): void => {
      const { id, key, value, cameAt, deleted } = row
      if (cameAt > sequence || !shows(list, may.list, key, value)) return
      if (this.#isIn(target, sweep, this.#written(id))) return
      this.#leave(id, deleted && shows(list, target.list, key, value))
    }
    if (sweep.byTime) {
      const stopped = this.#each(rows.departedSince(sequence, after || undefined), after, tell)
      return stopped === undefined ? undefined : { span: 0, after: stopped }
    }
    const groups = new Map(allOf(list, may.list).map((each) => [JSON.stringify(each.group), each]))
    return this.#spans([...groups.values()], span, after, ({ group }, from) =>
      this.#each(rows.departed(group, sequence, from), from, tell),
    )
  }

  /** Records of new holdings. */
  #gained({ state, sweep, target, span, after }: Walk): Stop | undefined {
    const { rules, rows } = this.source
    const isRest = (index: number): boolean => !sweep.byId || rules.list.rule.alternatives[index]!.range !== undefined
    const spans = state?.gained(target, sweep.fromMs) ?? allOf(rules.list, target.list, isRest)
    return this.#spans(spans, span, after, ({ group, range }, from) =>
      this.#eachWritten(rows.rows(group, range, from), from, (_, written) => {
        if (written === undefined || written.sequence > (state ?? sweep).sequence) return
        if (!this.#isIn(target, sweep, written)) return
        if (state === undefined || !state.has(recordOf(written))) this.#put(written, sweep, target)
      }),
    )
  }

  /** Records that were written. */
  #changed({ state, sweep, target, span, after }: Walk): Stop | undefined {
    const { guard, collection, rules, rows } = this.source
    const { sequence } = state!
    const tell = (written: WrittenDocument | undefined): void => {
      if (written === undefined || written.sequence <= sequence || !this.#isShown(target, sweep, written)) return
      if (this.#isInPart(written)) this.#put(written, sweep, target)
      // The replica may have it as it was.
      else this.#leave(String(recordOf(written)['id']), false)
    }
    if (sweep.byHeld)
      return this.#spans(allOf(rules.list, target.list), span, after, ({ group, range }, from) =>
        this.#eachWritten(rows.rows(group, range, from), from, (_, written) => tell(written)),
      )
    for (let since = after === '' ? sequence : Number(after); ;) {
      const written = guard.writtenAfter(collection, since)
      for (const each of written) {
        if (each.sequence > sweep.sequence) return undefined
        if (this.isFull) return { span: 0, after: String(since) }
        this.#limits.entries--
        this.#weigh(each)
        tell(each)
        since = each.sequence
      }
      if (written.length === 0) return undefined
    }
  }

  /** Records that the replica has, if other fields of them are shown. */
  #shown({ state, sweep, target, span, after }: Walk): Stop | undefined {
    const { rules, rows } = this.source
    const spans = sweep.shownByHeld ? allOf(rules.list, target.list) : state!.shown(target, sweep.fromMs)
    return this.#spans(spans, span, after, ({ group, range }, from) =>
      this.#eachWritten(rows.rows(group, range, from), from, (_, written) => {
        if (written === undefined || written.sequence > state!.sequence) return
        if (!this.#isIn(target, sweep, written)) return
        const record = recordOf(written)
        // What the replica may lack has come as gained.
        if (state!.has(record) && state!.isOther(record, target)) this.#put(written, sweep, target)
      }),
    )
  }

  #spans(
    spans: readonly Span[],
    first: number,
    after: string,
    walk: (span: Span, from: string | undefined) => string | undefined,
  ): Stop | undefined {
    for (let span = first; span < spans.length; span++) {
      const stopped = walk(spans[span]!, span === first && after !== '' ? after : undefined)
      if (stopped !== undefined) return { span, after: stopped }
    }
    return undefined
  }

  /** Gives the position of the last row if the page is full before the end. */
  #each<Row>(
    rows: Iterable<Positioned<Row>>,
    from: string | undefined,
    tell: (row: Positioned<Row>) => void,
  ): string | undefined {
    let last = from ?? ''
    for (const row of rows) {
      if (this.isFull) return last
      this.#limits.entries--
      tell(row)
      last = row.position
    }
    return undefined
  }

  /**
   * As `each`, with the document of each row. Documents of some rows are read together. What is not in memory makes the page begin
   * again, once for all of them.
   */
  #eachWritten<Row extends { readonly id: string }>(
    rows: Iterable<Positioned<Row>>,
    from: string | undefined,
    tell: (row: Positioned<Row>, written: WrittenDocument | undefined) => void,
  ): string | undefined {
    const { guard, collection } = this.source
    let last = from
    for (const some of inLots(rows, () => this.lotSize())) {
      if (this.isFull) return last ?? ''
      const documents = guard.writtenMany(
        collection,
        some.map(({ id }) => id),
      )
      let next = 0
      last = this.#each(some, last, (row) => {
        const written = documents[next++]
        this.#weigh(written)
        tell(row, written)
      })
      if (next < some.length) return last
      last = some.at(-1)!.position
    }
    return undefined
  }

  /** How many documents are read together: few at first, then as many as the page has room for if they are like those before. */
  lotSize(): number {
    const { rows, entries, bytes } = this.#limits
    const room = this.#weighed === 0 ? LOT_ROWS : Math.ceil((bytes * this.#weighed) / this.#weighedBytes)
    return Math.max(1, Math.min(rows, entries, room))
  }

  /** Looks at a record that is held. `isSure`: it is held now, too. Else it is asked. */
  putHeld(written: WrittenDocument | undefined, sweep: Sweep, target: AllHoldingsAt, isSure: boolean): void {
    this.#limits.entries--
    this.#weigh(written)
    if (written === undefined || written.sequence > sweep.sequence || !this.#isInPart(written)) return
    this.#put(written, sweep, target, isSure)
  }

  #weigh(written: WrittenDocument | undefined): void {
    const bytes = jsonSize(written?.document)
    this.#weighed++
    this.#weighedBytes += bytes
    this.#limits.bytes -= bytes
  }

  get isFull(): boolean {
    const { rows, entries, bytes } = this.#limits
    return rows <= 0 || entries <= 0 || bytes <= 0
  }

  /** Whether a record is what the sweep leads to. */
  #isIn(target: AllHoldingsAt, sweep: Sweep, written: WrittenDocument | undefined): boolean {
    return this.#isShown(target, sweep, written) && this.#isInPart(written!)
  }

  #isShown({ list }: AllHoldingsAt, { sequence }: Sweep, written: WrittenDocument | undefined): boolean {
    const isThere = written !== undefined && written.document['_deleted'] !== true
    return isThere && written.sequence <= sequence && list.viewer.shows(recordOf(written))
  }

  #isInPart(written: WrittenDocument): boolean {
    return this.source.part.has(recordOf(written))
  }

  /** A record that is as it was when the replica did not want it. */
  #wasOutside(sequence: number, written: WrittenDocument | undefined): boolean {
    return written !== undefined && written.sequence <= sequence && !this.#isInPart(written)
  }

  #put(written: WrittenDocument, { mark }: Sweep, { fields }: AllHoldingsAt, isSure = false): void {
    const { now, has, rules, account } = this.source
    const record = recordOf(written)
    const [id, rev] = [String(record['id']), String(written.document['_rev'])]
    const known = `${id} ${rev}`
    // The next sweep has what the account may not see any more.
    if (this.#told.has(known) || !(isSure || now.list.viewer.shows(record))) return
    this.#told.add(known)
    this.#limits.rows--
    const document = written.document as JsonObject
    // The next sweep has the fields that only the target shows, and those that it does not show yet.
    const isShown = (place: number): boolean =>
      fields[place]!.viewer.shows(record) && now.fields[place]!.viewer.shows(record)
    const row = { document, without: withheld(rules.ruled, account, record, isShown) }
    if (mark === undefined) this.rows.push(row)
    else this.rows.push(has(id, rev) ? { id, rev, mark } : { ...row, mark })
  }

  #leave(id: string, deleted: boolean): void {
    this.#limits.rows--
    this.#told.clear()
    this.rows.push({ left: id, deleted })
  }

  #written(id: string): WrittenDocument | undefined {
    const written = this.source.guard.written(this.source.collection, id)
    this.#weigh(written)
    return written
  }
}

interface Walk {
  readonly state: ReachedState | undefined
  readonly sweep: Sweep
  readonly target: AllHoldingsAt
  readonly span: number
  readonly after: string
}

/** `sizeOf`: of the next lot; one at least. */
function* inLots<Row>(rows: Iterable<Row>, sizeOf: () => number): Generator<readonly Row[]> {
  let lot: Row[] = []
  let size = sizeOf()
  for (const row of rows) {
    lot.push(row)
    if (lot.length < size) continue
    yield lot
    lot = []
    size = sizeOf()
  }
  if (lot.length > 0) yield lot
}

/** Where a page is full. */
interface Stop {
  readonly span: number
  readonly after: string
}

/** How changes and losses are found at the least cost. It is fixed for a sweep. `ms`: its time. */
export function planOf(source: PageSource, reached: Reached, ms: number): Plan {
  const { guard, collection, rows, rules, now } = source
  const state = new ReachedState(source, reached)
  const changes = guard.lastWrite(collection)!.sequence - reached.sequence
  const before = state.may.list.grounds.reduce((sum, grounds) => sum + (grounds?.size ?? 0), 0)
  const shown = countIn(rows, state.shown(now, ms), Infinity)
  const all = allOf(rules.list, now.list)
  return {
    byHeld: countIn(rows, all, changes) < changes,
    byTime: rows.countDepartedSince(reached.sequence) <= before,
    shownByHeld: shown > 0 && countIn(rows, all, shown) < shown,
  }
}

type Plan = Pick<Sweep, 'byHeld' | 'byTime' | 'shownByHeld'>

/** Whether some alternative of the account shows a row. */
function shows({ sides }: AccountRule, at: HoldingsAt, key: readonly unknown[], value: unknown): boolean {
  const { grounds, viewer } = at
  const [side, ground] = key as [number, string]
  return sides.some(
    (place, index) =>
      place === side && grounds[index]?.has(ground) === true && viewer.admits(index, sideOf(key, value)),
  )
}

function sideOf(
  key: readonly unknown[],
  value: unknown,
): { readonly range: string | number | null; readonly own: RuleRecord } {
  return { range: key[2] as string | number | null, own: (value ?? {}) as RuleRecord }
}

function recordOf({ document }: WrittenDocument): RuleRecord {
  return ruleRecord(document)
}
