/** Where Pannier is not first among the contenders that keep what they hold, by how much, and why. */
import { factsOf } from '../contenders/catalog.ts'
import type { ResultFile, Row } from '../harness/results.ts'

export interface Loss {
  readonly suite: string
  readonly cell: string
  readonly metric: string
  readonly title: string
  /** The fastest. */
  readonly contender: string
  /** How many times its value Pannier's is: above 1. */
  readonly times: number
  /** Undefined: nobody has found out. */
  readonly reason: string | undefined
}

/** Less than this is within what two runs of one contender differ. */
const NOISE = 1.2

const PUT =
  'the request by which a write makes sure that its tab has seen the newest one, and some 0.1 ms before its transaction begins'
const COLD = 'with so few documents most of it is code that runs for the first time'
const IN_PROCESS = 'SQLite, LMDB and LevelDB answer within one native call; a promise and a plan take 0.02 to 0.05 ms'
const PAGES = 'whole pages are read and checked for single documents that lie in them'

/** By metric. docs/performance.md has the measurements behind them. */
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
  dropStore: 'closing finishes what is under way, opening reads meta page and log again',
  dropDatabase: 'a new database begins with a reserve for the moment that the quota is reached',
  memoryAfterLoad: 'the page cache holds up to 64 MiB',
  add: COLD,
  insert: COLD,
  index: COLD,
  'bulk-inserts': COLD,
  'create-index': COLD,
  init: COLD,
  closeAll: 'closing finishes what is under way, and writes the log into pages',
  delete: COLD,
  destroy: 'its files, and a reserve in them, are deleted',
  remove: PUT,
  replace: PUT,
  'basic-inserts': PUT,
  findByQuery: IN_PROCESS,
  'all-docs-skip-limit': IN_PROCESS,
  'simple-find-query': IN_PROCESS,
  'simple-find-query-no-index': IN_PROCESS,
  bytesOnDisk: 'a reserve of 32 MiB for the moment that the quota is reached, and the file system counts it as used',
}

const REMEMBERED = 'the same query was asked before, and its result is remembered'
const KEPT_COUNT = 'the count is kept in memory'

const COUNTS: ReadonlySet<string> = new Set(['count', 'countAll', 'countRecords'])

/** They answer within the process, and the reasons of browsers are none beside them. */
const IN_PROCESS_CONTENDERS: ReadonlySet<string> = new Set(['node-sqlite', 'lmdb', 'classic-level'])

/** Of what is asked again and again. */
const WARM: ReadonlySet<string> = new Set(['findUnindexed', 'findIndexedWarm', 'rangeCount', 'deepSkip', 'count'])

/** From so many documents on the page cache can't hold them all. */
const LARGE_DOCUMENTS_MIN = 1_000_000
const LARGE_REASONS: Readonly<Record<string, string>> = {
  getWarm: 'more than the page cache of 64 MiB holds: pages are read again each time',
  findIndexedWarm: 'more than the page cache of 64 MiB holds: pages are read again each time',
  findUnindexed: 'more than the page cache of 64 MiB holds: pages are read again each time',
  memoryAfterLoad: 'what loading a million documents in one call leaves to be collected',
}

function reasonFor({ metric, contender, cell }: Row, times: number): string | undefined {
  if (times < NOISE) return 'within what two runs of one contender differ'
  const isLarge = Number(/^[\d,]+(?= documents)/.exec(cell)?.[0].replaceAll(',', '')) >= LARGE_DOCUMENTS_MIN
  if (isLarge && LARGE_REASONS[metric] !== undefined) return LARGE_REASONS[metric]
  if (contender === 'rxdb' && WARM.has(metric)) return REMEMBERED
  if (contender.startsWith('pouchdb') && COUNTS.has(metric)) return KEPT_COUNT
  const reason = REASONS[metric]
  return reason === PUT && IN_PROCESS_CONTENDERS.has(contender) ? IN_PROCESS : reason
}

/** The worst first. */
export function lossesOf({ rows }: Pick<ResultFile, 'rows'>): Loss[] {
  const groups = Map.groupBy(rows, ({ suite, cell, metric }) => `${suite} ${cell} ${metric}`)
  const losses = [...groups.values()].flatMap((group) => {
    const first = firstOf(group)
    if (first?.ratio === undefined || first.ratio.median >= 1) return []
    const { suite, cell, metric, title, contender } = first
    const times = 1 / first.ratio.median
    return [{ suite, cell, metric, title, contender, times, reason: reasonFor(first, times) }]
  })
  return losses.sort((a, b) => b.times - a.times)
}

/** Which of those that persist needs least beside Pannier, pair by pair. */
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
