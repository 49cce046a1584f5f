/** The watchers of a collection, by what they hold: a record finds those that see it by look-ups. */
import type { RuleRecord } from '@pannier/rules'
import { recordSide, type Viewer } from '@pannier/rules/cut'
import { isTimed, changeOf } from './seen-difference.ts'
import { groundOf, groundsOf } from '../feed/spans.ts'
import type { SyncedCollection } from '../rules/sync-rules.ts'
import type { Watcher } from './watcher.ts'
import type { Watching } from './watching.ts'

export class WatchedCollection {
  /** A collection to which sessions subscribe. */
  readonly name: string
  /** Whether its watchers are superusers. */
  readonly isAdmin: boolean
  /** Undefined while the collection can't be synced. */
  synced: SyncedCollection | undefined
  /** By the keys of their principals. */
  readonly watchers: Map<string, Watcher> = new Map()
  readonly #byGround = new Map<string, Set<Watcher>>()
  /** Watchers whose view of the collection changes with time. */
  readonly timed: Set<Watcher> = new Set()
  /** Until when none of them sees anything else, if nothing is written. */
  until: number = Infinity
  /** How many look-ups there were, and how many watchers were asked about a record. */
  readonly counts: { lookups: number; asked: number } = { lookups: 0, asked: 0 }

  constructor(name: string, isAdmin: boolean) {
    this.name = name
    this.isAdmin = isAdmin
  }

  /** From now on the watcher is found by what it holds. */
  place(watcher: Watcher, watching: Watching, until: number): void {
    this.unplace(watcher)
    watcher.watching = watching
    if (isTimed(watching.rules)) this.#expect(watcher, until)
    for (const key of keysOf(watching)) {
      const watchers = this.#byGround.get(key)
      if (watchers === undefined) this.#byGround.set(key, new Set([watcher]))
      else watchers.add(watcher)
    }
  }

  unplace(watcher: Watcher): void {
    const { watching } = watcher
    watcher.watching = undefined
    this.timed.delete(watcher)
    watcher.until = Infinity
    if (watching === undefined) return
    for (const key of keysOf(watching)) {
      const watchers = this.#byGround.get(key)
      watchers?.delete(watcher)
      if (watchers?.size === 0) this.#byGround.delete(key)
    }
  }

  /** Adds those that have seen a record until now to `found`. */
  findFormer(record: RuleRecord, found: Set<Watcher>, nowMs: number): void {
    for (const { watcher, isSeen } of this.#behind(record, found))
      if (isSeen(watcher.asOf(nowMs)!.at.list.viewer) || (this.timed.has(watcher) && isSeen(watcher.viewerAt(nowMs))))
        found.add(watcher)
  }

  /** Adds those that see a record now to `found`. */
  findSeeing(record: RuleRecord, found: Set<Watcher>, nowMs: number): void {
    for (const { watcher, isSeen, changesAt } of this.#behind(record, found)) {
      const isClocked = this.timed.has(watcher)
      const viewer = isClocked ? watcher.viewerAt(nowMs) : watcher.watching!.at.list.viewer
      if (isClocked) this.#expect(watcher, changesAt(viewer, nowMs))
      if (isSeen(viewer)) found.add(watcher)
    }
  }

  /** The watchers that hold a ground of a record, except for those that are found already and see it at all times. */
  *#behind(record: RuleRecord, found: ReadonlySet<Watcher>): Generator<Candidate> {
    const { sides, listSides } = this.synced?.rules ?? { sides: [], listSides: 0 }
    for (const [place, { rule, alternative }] of sides.slice(0, listSides).entries()) {
      const side = recordSide(rule, alternative, record)
      for (const value of side?.grounds ?? []) {
        const ground = groundOf(value)
        this.counts.lookups++
        for (const watcher of this.#byGround.get(keyOf(place, ground)) ?? []) {
          if (found.has(watcher) && !this.timed.has(watcher)) continue
          this.counts.asked++
          const { list } = watcher.watching!.rules
          const { grounds } = watcher.watching!.at.list
          const places = list.sides.flatMap((each, index) =>
            each === place && grounds[index]?.has(ground) === true ? [index] : [],
          )
          yield {
            watcher,
            isSeen: (viewer) => places.some((index) => viewer.admits(index, side!)),
            changesAt: (viewer, ms) =>
              Math.min(
                ...places.map((index) => changeOf(list.rule.alternatives[index]!, side!, viewer.bound(index), ms)),
              ),
          }
        }
      }
    }
  }

  /** A watcher is asked again then. */
  #expect(watcher: Watcher, ms: number): void {
    this.timed.add(watcher)
    watcher.until = Math.min(watcher.until, ms)
    this.until = Math.min(this.until, ms)
  }
}

/** A watcher that may see a record. */
interface Candidate {
  readonly watcher: Watcher
  readonly isSeen: (viewer: Viewer) => boolean
  /** When the record may begin or end to be seen, as time passes. */
  readonly changesAt: (viewer: Viewer, ms: number) => number
}

function keysOf({ rules, at }: Watching): readonly string[] {
  const keys = at.list.holdings.flatMap((holding, index) =>
    holding === null ? [] : Array.from(groundsOf(holding), (ground) => keyOf(rules.list.sides[index]!, ground)),
  )
  return [...new Set(keys)]
}

function keyOf(place: number, ground: string): string {
  return `${place} ${ground}`
}
