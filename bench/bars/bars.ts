/** The rows of the table, in order, and the bar of each figure. */
import type { Place } from '../contenders/catalog.ts'

/** A bar, which is reached if either of its limits holds. */
export interface Bar {
  /** The least ratio of the rival's time to Pannier's: 1 is as fast, 2 is twice as fast. */
  readonly ratioMin?: number
  readonly millisecondsMax?: number
}

export interface Row {
  readonly metric: string
  /** A metric of Pannier's own that takes the place of the rival's. */
  readonly against?: string
  readonly title: string
  readonly browser?: Bar
  readonly firefox?: Bar
  readonly node?: Bar
  /** In the origin private file system: Chromium, Firefox. */
  readonly opfs?: readonly [chromium: Bar, firefox: Bar]
}

/** Counts among 100,000 documents. */
const COUNTED: Bar = { millisecondsMax: 1 }

export const rows: readonly Row[] = [
  { metric: 'bulkInsert', title: 'bulk insert', browser: faster(15), node: faster(1), opfs: [faster(15), faster(10)] },
  { metric: 'buildIndexes', title: 'two indexes on existing data', browser: faster(25), node: faster(1) },
  { metric: 'widenIndex', title: '  one on two fields in the place of one' },
  { metric: 'filter', title: 'unindexed filter, 1% match', browser: faster(5), node: faster(1) },
  {
    metric: 'filter',
    against: 'parseAll',
    title: '  against reading all as JSON pages',
    browser: within(1.5),
    node: within(1.5),
  },
  { metric: 'count', title: 'count all', browser: faster(50), node: faster(100) },
  { metric: 'skipById', title: 'skip 90% limit 20, by id', browser: faster(50), node: faster(100) },
  { metric: 'skipByAge', title: 'skip 90% limit 20, by an index', browser: faster(50), node: faster(100) },
  { metric: 'rangeCount', title: 'count of an index range', browser: COUNTED, node: COUNTED },
  { metric: 'valueCount', title: 'count of a value in an index', browser: COUNTED, node: COUNTED },
  { metric: 'put', title: 'one awaited put, p50', browser: faster(1) },
  { metric: 'putP99', title: 'one awaited put, p99' },
  {
    metric: 'inserts',
    title: '5,000 awaited inserts, 2 indexes',
    browser: faster(1),
    opfs: [faster(2.5), faster(1.3)],
  },
  { metric: 'insertsLongest', title: '  longest insert' },
  { metric: 'insertsStall', title: '  longest stall', browser: { millisecondsMax: 50 } },
  { metric: 'updates', title: '5,000 awaited updates, 2 indexes', browser: within(1.2), opfs: [faster(2), faster(1)] },
  { metric: 'updatesLongest', title: '  longest update' },
  { metric: 'updatesStall', title: '  longest stall', browser: { millisecondsMax: 50 } },
  { metric: 'closeAfterWrites', title: '  close after them' },
  { metric: 'cachedGet', title: 'get, cached', browser: faster(10), node: within(1.5) },
  { metric: 'coldGet', title: 'get, cold, median', browser: within(2) },
  { metric: 'coldGetMean', title: 'get, cold, mean', browser: within(2) },
  { metric: 'findWarm', title: 'indexed find of 2%, warm', browser: faster(1), node: within(1.5) },
  {
    metric: 'findCold',
    title: 'indexed find of 2%, cold',
    browser: within(2),
    firefox: within(3),
    opfs: [faster(2), faster(1.3)],
  },
  { metric: 'coveredWarm', title: '  covered by the index, warm', browser: faster(5) },
  { metric: 'coveredCold', title: '  covered by the index, cold', browser: faster(5) },
  {
    metric: 'coldOpen',
    title: 'open + first get, cold',
    browser: { ...within(1.5), millisecondsMax: 30 },
    opfs: [{ millisecondsMax: 50 }, { millisecondsMax: 50 }],
  },
  { metric: 'openFullLog', title: '  with a full log tail', browser: { millisecondsMax: 100 } },
]

export function barOf(row: Row, place: Place, opfs: boolean = false): Bar | undefined {
  if (opfs && row.opfs !== undefined) return row.opfs[place === 'firefox' ? 1 : 0]
  if (place === 'node') return row.node
  return (place === 'firefox' ? row.firefox : undefined) ?? row.browser
}

/** Encrypted against plain: every operation within 1.3 x. A figure that is a pause and not an operation has no bar. */
export function encryptedBarOf({ metric }: Row): Bar | undefined {
  return /Longest|Stall|P99|parseAll/.test(metric) ? undefined : within(1.3)
}

export function describeBar({ ratioMin, millisecondsMax }: Bar): string {
  const parts: string[] = []
  if (ratioMin !== undefined && ratioMin < 1) parts.push(`within ${Number((1 / ratioMin).toFixed(2))}x`)
  if (ratioMin !== undefined && ratioMin >= 1) parts.push(`>= ${ratioMin}x`)
  if (millisecondsMax !== undefined) parts.push(`<= ${millisecondsMax} ms`)
  return parts.join(' or ')
}

/** 'near': missed by less than the noise of a shared machine. */
export type Mark = 'pass' | 'near' | 'MISS'

const NOISE = 1.1

/** `rival` is undefined where only Pannier ran; then only a bar in milliseconds can be judged. */
export function judge(bar: Bar, pannier: number, rival: number | undefined): Mark | undefined {
  const { ratioMin, millisecondsMax } = bar
  const reaches = (slack: number): boolean =>
    (ratioMin !== undefined && rival !== undefined && (rival / pannier) * slack >= ratioMin) ||
    (millisecondsMax !== undefined && pannier <= millisecondsMax * slack)
  if (reaches(1)) return 'pass'
  if (ratioMin !== undefined && rival === undefined) return undefined
  return reaches(NOISE) ? 'near' : 'MISS'
}

function faster(times: number): Bar {
  return { ratioMin: times }
}

function within(times: number): Bar {
  return { ratioMin: 1 / times }
}
