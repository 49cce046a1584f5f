/**
 * How pages are fetched, by engine. Measured with pages of 30 KiB, milliseconds for 100 / 700 / 1,400 of 1,400 pages:
 *
 * |            |              | one get a page | runs of up to 32 by getAll | one getAll over everything |
 * | Chromium   | scattered    | 8 / 54 / 130   | 9 / 71 / 301               | 339                        |
 * |            | contiguous   | 8 / 69 / 136   | 27 / 198 / 279             |                            |
 * | Firefox    | scattered    | 19 / 174 / 260 | 14 / 57 / 61               | 185                        |
 * |            | contiguous   | 12 / 101 / 247 | 4 / 42 / 65                |                            |
 * | WebKit     | scattered    | 17 / 121 / 242 | 14 / 98 / 96               | 130                        |
 * |            | contiguous   | 17 / 74 / 139  | 7 / 30 / 79                |                            |
 *
 * So Chromium gets each page by itself, all at once: its getAll copies. The others ask for runs, but of no more than about
 * 1 MB each: larger answers are slow again. A page or two that nobody asked for are read where they join two runs: for 790 of 930
 * pages Firefox takes 110 ms instead of 150-230.
 */
import type { PageId } from '../../base/brand.ts'
import { isChromium } from '../../base/environment.ts'
import type { PageArrived } from '../page-store.ts'

/** Pages of one getAll, and how many of them in a row nobody may have asked for. */
const RUN_PAGES_MAX = 32
const GAP_PAGES_MAX = 2

/**
 * Issues the requests. When they have succeeded, the result holds the pages in the order asked for, and `done` is called.
 */
export function requestPages(
  pages: IDBObjectStore,
  ids: readonly PageId[],
  done: () => void,
  arrived?: PageArrived,
): (Uint8Array | undefined)[] {
  const result: (Uint8Array | undefined)[] = ids.map(() => undefined)
  let waiting = ids.length
  const settle = (index: number, bytes: Uint8Array | undefined): void => {
    result[index] = bytes
    if (bytes !== undefined) arrived?.(index, bytes)
    if (--waiting === 0) done()
  }
  const get = (index: number): void => {
    const request = pages.get(ids[index]!) as IDBRequest<Uint8Array | undefined>
    request.onsuccess = () => settle(index, request.result)
  }
  for (const run of isChromium ? ids.map((_, index) => [index]) : runsOf(ids)) {
    if (run.length === 1) get(run[0]!)
    else {
      const range = IDBKeyRange.bound(ids[run[0]!], ids[run.at(-1)!])
      // Values come without their keys, and between those asked for there may be pages or none.
      const keys = pages.getAllKeys(range) as IDBRequest<unknown[]>
      const values = pages.getAll(range) as IDBRequest<Uint8Array[]>
      values.onsuccess = () => {
        const found = keys.result as PageId[]
        let at = 0
        for (const index of run) {
          while (at < found.length && found[at]! < ids[index]!) at++
          settle(index, found[at] === ids[index] ? values.result[at] : undefined)
        }
      }
    }
  }
  return result
}

/** Indices into `ids`, in runs of ids that follow one another closely. */
function runsOf(ids: readonly PageId[]): number[][] {
  const order = ids.map((_, index) => index).sort((a, b) => ids[a]! - ids[b]!)
  const runs: number[][] = []
  let run: number[] = []
  for (const index of order) {
    const id = ids[index]!
    const isNear = run.length > 0 && id - ids[run.at(-1)!]! <= GAP_PAGES_MAX + 1 && id - ids[run[0]!]! < RUN_PAGES_MAX
    if (!isNear) runs.push((run = []))
    run.push(index)
  }
  return runs
}
