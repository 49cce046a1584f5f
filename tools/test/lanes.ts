/** The lanes of unit tests. The suffix of a file says its lane: `NAME.race.test.ts`; a file without one is fast. */
import type { SeededLane } from './seeds.ts'

export type Lane = SeededLane | 'slow'

/** What is in each, in words. */
export const LANES: Readonly<Record<Lane, string>> = {
  model: 'random work, compared with a naive model',
  crash: 'processes, disks and files that fail at each call',
  race: 'several handles, tabs or servers at the same time',
  diff: 'the same work done by something else: PouchDB, SQLite, RegExp',
  slow: 'attacks, whole suites on further storages, big data, processes: seconds for other reasons',
}

export function patternOf(lane: Lane): string {
  return `**/*.${lane}.test.ts`
}

/** What `npm run check` leaves out. */
export const BEYOND_FAST: readonly string[] = (Object.keys(LANES) as Lane[]).map(patternOf)
