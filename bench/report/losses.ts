/** Losses: where Pannier is not first among the contenders that persist, by how much, and why. */
import { factsOf } from '../contenders/catalog.ts'
import type { ResultFile, Row } from '../harness/results.ts'

export interface Loss {
  readonly suite: string
  readonly cell: string
  readonly metric: string
  readonly title: string
  /** The fastest contender. */
  readonly contender: string
  /** How many times its value Pannier's is: above 1. */
  readonly times: number
  /** Undefined: not known yet. */
  readonly reason: string | undefined
}

/** Less than this is within what two runs of one contender differ. */
const NOISE = 1.2

const PUT =
  'the request by which a write makes sure that its tab has seen the newest one, and some 0.1 ms before its transaction begins'
/** The same again in one process: 1,000 documents inserted in 84 ms, then 37, 23 and 13; opened in 32 and then 3 to 6. */
const COLD = 'with so few documents most of it is code that runs for the first time'
const IN_PROCESS = 'SQLite, LMDB and LevelDB answer within one native call; a promise and a plan take 0.02 to 0.05 ms'
const PAGES = 'whole pages are read and checked for single documents that lie in them'
const CLOSING = 'closing waits for the storage checkpoint that the writes before it have begun'
const LOADING = 'the parts of the library that opening needs are loaded and run for the first time'

/**
 * Reasons by metric. Those that docs/notes/2026-11-21-speed-lessons.md has no measurement for are what the code does, not shares of the
 * time.
 */
const REASONS: Readonly<Record<string, string>> = {
  bulkInsert: 'encoding, hashing and sorting in JavaScript; SQLite does that in native code',
  buildIndexes: 'keys are taken out of documents and sorted in JavaScript; SQLite does that in native code',
  durableWrite: PUT,
  durableWriteP99: `${PUT}; storage checkpoints are written in between`,
  concurrentWrites: PUT,
  update: PUT,
  deleteOne: PUT,
  deleteMany: 'each document is read for what its indexes hold of it, and gets a revision',
  mixed: PUT,
  getWarm: IN_PROCESS,
  count: IN_PROCESS,
  rangeCount: IN_PROCESS,
  findIndexedWarm: IN_PROCESS,
  deepSkip: IN_PROCESS,
  findUnindexed: 'the first reading of pages that are not cached yet counts in some of the samples',
  coldOpen: 'meta page, log and the root of each tree are read, then a page of the id tree and one of bodies, in turn',
  getCold: PAGES,
  findIndexedCold: `${PAGES}: documents of one value are scattered over most of them`,
  dropStore: `${CLOSING}, opening reads meta page and log again`,
  dropDatabase: 'not found out; in results from before 2026-11-22 it was also opened once more to be deleted',
  memoryAfterLoad: 'the page cache holds up to 64 MiB',
  add: COLD,
  insert: COLD,
  index: COLD,
  'bulk-inserts': COLD,
  'create-index': COLD,
  init: LOADING,
  closeAll: CLOSING,
  delete: COLD,
  destroy: 'closing waits for what is under way; then the place that keeps it deletes the database',
  remove: PUT,
  replace: PUT,
  'basic-inserts': PUT,
  findByQuery: IN_PROCESS,
  'all-docs-skip-limit': IN_PROCESS,
  'simple-find-query': IN_PROCESS,
  'simple-find-query-no-index': IN_PROCESS,
  bytesOnDisk: 'LevelDB, on which IndexedDB stands in Chromium, keeps what was deleted until it compacts its files',
}

/** Node has no quota, so no reserve, and no tab that could be frozen. */
const REASONS_IN_NODE: Readonly<Record<string, string>> = {
  coldOpen: LOADING,
  durableWriteP99: `${IN_PROCESS}; storage checkpoints are written in between`,
  dropDatabase: CLOSING,
  bytesOnDisk: 'pages are not compressed; LevelDB compresses its blocks',
}

const REMEMBERED = 'the same query was asked before, and its result is remembered'
const KEPT_COUNT = 'the count is kept in memory'

const COUNTS: ReadonlySet<string> = new Set(['count', 'countAll', 'countRecords'])

/** Contenders that answer within the process, so the reasons of browsers do not apply. */
const IN_PROCESS_CONTENDERS: ReadonlySet<string> = new Set(['node-sqlite', 'lmdb', 'classic-level'])

/** Workloads that ask the same again and again. */
const WARM: ReadonlySet<string> = new Set(['findUnindexed', 'findIndexedWarm', 'rangeCount', 'deepSkip', 'count'])

/** With this number of documents or more the page cache can't hold them all. */
const LARGE_DOCUMENTS_MIN = 1_000_000
const BEYOND_CACHE = 'more than the page cache of 64 MiB holds: pages are read again each time'
const LARGE_REASONS: Readonly<Record<string, string>> = {
  getWarm: BEYOND_CACHE,
  findIndexedWarm: BEYOND_CACHE,
  findUnindexed: BEYOND_CACHE,
  memoryAfterLoad: 'what loading a million documents in one call leaves to be collected',
}

function reasonFor({ metric, contender, cell }: Row, place: string, times: number): string | undefined {
  if (times < NOISE) return 'within what two runs of one contender differ'
  const isLarge = Number(/^[\d,]+(?= documents)/.exec(cell)?.[0].replaceAll(',', '')) >= LARGE_DOCUMENTS_MIN
  if (isLarge && LARGE_REASONS[metric] !== undefined) return LARGE_REASONS[metric]
  if (contender === 'rxdb' && WARM.has(metric)) return REMEMBERED
  if (contender.startsWith('pouchdb') && COUNTS.has(metric)) return KEPT_COUNT
  if (place === 'node' && REASONS_IN_NODE[metric] !== undefined) return REASONS_IN_NODE[metric]
  const reason = REASONS[metric]
  return reason === PUT && IN_PROCESS_CONTENDERS.has(contender) ? IN_PROCESS : reason
}

/** The worst first. */
export function lossesOf({ place, rows }: Pick<ResultFile, 'place' | 'rows'>): Loss[] {
  const groups = Map.groupBy(rows, ({ suite, cell, metric }) => `${suite} ${cell} ${metric}`)
  const losses = [...groups.values()].flatMap((group) => {
    const first = firstOf(group)
    if (first?.ratio === undefined || first.ratio.median >= 1) return []
    const { suite, cell, metric, title, contender } = first
    const times = 1 / first.ratio.median
    return [{ suite, cell, metric, title, contender, times, reason: reasonFor(first, place, times) }]
  })
  return losses.sort((a, b) => b.times - a.times)
}

/** The fastest other contender that persists, compared in pairs. */
function firstOf(rows: readonly Row[]): Row | undefined {
  const rivals = rows.filter(({ contender, ratio }) => ratio !== undefined && isRival(contender))
  return rivals.reduce<Row | undefined>(
    (least, row) => (least === undefined || row.ratio!.median < least.ratio!.median ? row : least),
    undefined,
  )
}

function isRival(contender: string): boolean {
  return factsOf(contender).kind === 'persistent' && !/^(?:pannier|jsonstore)/.test(contender)
}
