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
 * 1 MB each: larger answers are slow again. Reading pages that nobody asked for, to join runs, never paid.
 */
import type { PageId } from '../../base/brand.ts'
import { isChromium } from './engine.ts'

const RUN_PAGES_MAX = 32

/** Issues the requests. When they have succeeded, the result holds the pages in the order asked for, and `done` is called. */
export function requestPages(
  pages: IDBObjectStore,
  ids: readonly PageId[],
  done: () => void,
): (Uint8Array | undefined)[] {
  const result: (Uint8Array | undefined)[] = ids.map(() => undefined)
  let waiting = ids.length
  const arrived = (index: number, bytes: Uint8Array | undefined): void => {
    result[index] = bytes
    if (--waiting === 0) done()
  }
  const get = (index: number): void => {
    const request = pages.get(ids[index]!) as IDBRequest<Uint8Array | undefined>
    request.onsuccess = () => arrived(index, request.result)
  }
  for (const run of isChromium ? ids.map((_, index) => [index]) : runsOf(ids)) {
    if (run.length === 1) get(run[0]!)
    else {
      const range = IDBKeyRange.bound(ids[run[0]!], ids[run.at(-1)!])
      const request = pages.getAll(range) as IDBRequest<Uint8Array[]>
      request.onsuccess = () => {
        // The values come without their keys: when one is missing there is no telling which.
        if (request.result.length < run.length) run.forEach(get)
        else run.forEach((index, offset) => arrived(index, request.result[offset]))
      }
    }
  }
  return result
}

/** Indices into `ids`, in runs of consecutive ids. */
function runsOf(ids: readonly PageId[]): number[][] {
  const order = ids.map((_, index) => index).sort((a, b) => ids[a]! - ids[b]!)
  const runs: number[][] = []
  let run: number[] = []
  for (const index of order) {
    if (run.length === 0 || run.length === RUN_PAGES_MAX || ids[index] !== ids[run.at(-1)!]! + 1) runs.push((run = []))
    run.push(index)
  }
  return runs
}
