/** The watchers of a collection, by what they hold: a record finds those that see it by look-ups. */
import type { RuleRecord } from '@pannier/rules'
import { recordSide, type RecordSide } from '@pannier/rules/cut'
import type { Definition } from '../definitions/definition.ts'
import { groundOf, groundsOf } from './spans.ts'
import type { SyncRules } from './sync-rules.ts'
import type { Watcher, Watching } from './watcher.ts'

/** A collection as it can be synced. */
interface SyncedCollection {
  readonly definition: Definition
  readonly rules: SyncRules
}

export class WatchedCollection {
  /** What sessions subscribe to. */
  readonly name: string
  /** Undefined while the collection can't be synced. */
  synced: SyncedCollection | undefined
  /** By the keys of their principals. */
  readonly watchers: Map<string, Watcher> = new Map()
  readonly #byGround = new Map<string, Set<Watcher>>()
  /** How many watchers were asked about a record. */
  asked = 0

  constructor(name: string) {
    this.name = name
  }

  /** From now on the watcher is found by what it holds. */
  place(watcher: Watcher, watching: Watching): void {
    this.unplace(watcher)
    watcher.watching = watching
    for (const key of keysOf(watching)) {
      const watchers = this.#byGround.get(key)
      if (watchers === undefined) this.#byGround.set(key, new Set([watcher]))
      else watchers.add(watcher)
    }
  }

  unplace(watcher: Watcher): void {
    const { watching } = watcher
    watcher.watching = undefined
    if (watching === undefined) return
    for (const key of keysOf(watching)) {
      const watchers = this.#byGround.get(key)
      watchers?.delete(watcher)
      if (watchers?.size === 0) this.#byGround.delete(key)
    }
  }

  /** Adds those that see a record to `found`. */
  findSeeing(record: RuleRecord, found: Set<Watcher>): void {
    for (const [place, { rule, alternative }] of this.synced?.rules.sides.entries() ?? []) {
      const side = recordSide(rule, alternative, record)
      for (const value of side?.grounds ?? []) {
        const ground = groundOf(value)
        for (const watcher of this.#byGround.get(keyOf(place, ground)) ?? []) {
          if (found.has(watcher)) continue
          this.asked++
          if (admits(watcher.watching!, place, ground, side!)) found.add(watcher)
        }
      }
    }
  }
}

function admits({ rules, held }: Watching, place: number, ground: string, side: RecordSide): boolean {
  return rules.sides.some(
    (each, index) => each === place && held.grounds[index]?.has(ground) === true && held.viewer.admits(index, side),
  )
}

function keysOf({ rules, held }: Watching): readonly string[] {
  const keys = held.holdings.flatMap((holding, index) =>
    holding === null ? [] : Array.from(groundsOf(holding), (ground) => keyOf(rules.sides[index]!, ground)),
  )
  return [...new Set(keys)]
}

function keyOf(place: number, ground: string): string {
  return `${place} ${ground}`
}
