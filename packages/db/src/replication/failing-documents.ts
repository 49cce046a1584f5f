/**
 * Finds revisions for which a request always fails, so that they do not block all others. Examples are an attachment
 * that the source names but does not have, and a document for which a server always answers 500.
 *
 * Guarantees: a revision is skipped only after it has failed several times on its own, each time while its peer did
 * other work of the same kind. So no document is lost to a server or network that is down.
 */
import type { PannierError } from '../base/errors.ts'
import { LruMap } from '../base/lru-map.ts'
import { mayBeOneRevision, isMissing } from './errors.ts'
import type { RevisionFailure, RevisionName } from './peer.ts'

/** Failures in a row of requests that have it, after which each of their revisions is tried on its own. */
const CLOSER_LOOK_AFTER = 2
/** Failures in a row after which it is given up; fewer if the source says that something is not there. */
const GIVEN_UP_AFTER = 5
const GIVEN_UP_MISSING_AFTER = 3
/** As many are kept account of: far more than requests that are under way have. */
const COUNTED_MAX = 20_000

interface Guarded<Result> {
  readonly results: readonly Result[]
  /** The documents that have failed: given up, unless there is an `error`. */
  readonly failures: readonly RevisionFailure[]
  /** The error of a revision to retry. It ends the attempt after finished work is recorded. */
  readonly error: PannierError | undefined
}

export class FailingDocuments {
  /** Failures in a row, by revision. */
  readonly #counts = new LruMap<string, number>(COUNTED_MAX)
  readonly #isTriedAgain: boolean

  /** `isTriedAgain`: another attempt follows one that fails. Else each revision has all of its tries at once. */
  constructor(isTriedAgain: boolean) {
    this.#isTriedAgain = isTriedAgain
  }

  /** `probe` rejects if the peer does no work of this kind at all. */
  async guard<Item, Result>(
    items: readonly Item[],
    nameOf: (item: Item) => RevisionName,
    run: (items: readonly Item[]) => Promise<Result>,
    probe: () => Promise<void>,
  ): Promise<Guarded<Result>> {
    const keys = items.map((item) => keyOf(nameOf(item)))
    if (keys.some((key) => this.#count(key) >= CLOSER_LOOK_AFTER)) return this.#oneByOne(items, nameOf, run, probe)
    try {
      const results = [await run(items)]
      for (const key of keys) this.#counts.delete(key)
      return { results, failures: [], error: undefined }
    } catch (error) {
      if (mayBeOneRevision(error)) for (const key of keys) this.#add(key)
      // For what is missing it begins again anyway.
      if (this.#isTriedAgain || !mayBeOneRevision(error) || isMissing(error as PannierError)) throw error
      return this.#toTheEnd(items, nameOf, run, probe)
    }
  }

  async #toTheEnd<Item, Result>(
    items: readonly Item[],
    nameOf: (item: Item) => RevisionName,
    run: (items: readonly Item[]) => Promise<Result>,
    probe: () => Promise<void>,
  ): Promise<Guarded<Result>> {
    const results: Result[] = []
    for (let rest = items; ;) {
      const tried = await this.#oneByOne(rest, nameOf, run, probe)
      results.push(...tried.results)
      if (tried.error === undefined) return { ...tried, results }
      const failed = new Set(tried.failures.map(keyOf))
      rest = rest.filter((item) => failed.has(keyOf(nameOf(item))))
    }
  }

  async #oneByOne<Item, Result>(
    items: readonly Item[],
    nameOf: (item: Item) => RevisionName,
    run: (items: readonly Item[]) => Promise<Result>,
    probe: () => Promise<void>,
  ): Promise<Guarded<Result>> {
    const results: Result[] = []
    const failed: RevisionFailure[] = []
    for (const item of items) {
      const { id, rev } = nameOf(item)
      try {
        results.push(await run([item]))
        this.#counts.delete(keyOf({ id, rev }))
      } catch (error) {
        if (!mayBeOneRevision(error)) throw error
        failed.push({ id, rev, error: error as PannierError })
      }
    }
    if (failed.length > 0) await probe()
    for (const failure of failed) this.#add(keyOf(failure))
    const hopeful = failed.find((failure) => this.#count(keyOf(failure)) < givenUpAfter(failure))
    return { results, failures: failed, error: hopeful?.error }
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  #add(key: string): void {
    this.#counts.set(key, this.#count(key) + 1)
  }
}

function givenUpAfter({ error }: RevisionFailure): number {
  return isMissing(error) ? GIVEN_UP_MISSING_AFTER : GIVEN_UP_AFTER
}

export function keyOf({ id, rev }: RevisionName): string {
  return JSON.stringify([id, rev])
}
