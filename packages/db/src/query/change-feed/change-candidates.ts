/**
 * The sequences that a filtered feed has to look at, if that is cheaper than looking at everything after `since`: by
 * ids, or by the selector's best access path. Both costs are known exactly, because trees count.
 *
 * The list stays right during writes: a later write gets a sequence beyond the feed's end, and the entry that it
 * replaces is gone.
 */
import { notPromised } from '../../base/callback.ts'
import type { Key } from '../../base/brand.ts'
import { idKey, numberKey } from '../../codec/key-encoding.ts'
import { readNumber, type BodyView } from '../../document/body.ts'
import { existingTree, type DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import type { TreeReader } from '../../kv/key-value-store.ts'
import { isNever, type Condition, isAlways } from '../ast/normalise.ts'
import { scanEntries } from '../operators/build.ts'
import { BATCH_ROWS_MAX } from '../operators/operator.ts'
import type { AccessPath } from '../planner/access-path.ts'
import { pathsOfAllKinds } from '../planner/plan.ts'
import type { QuerySource } from '../query-source.ts'
import { compileCondition, type ReadField } from '../match.ts'
import { bodyFields } from '../operators/project.ts'

/** With fewer changes to look at, planning costs more than it saves. */
const CHANGES_MIN = 256
/** Entries whose sequence numbers are held at most. */
const CANDIDATES_MAX = 65_536
/** Costs in units of testing one change in a scan: finding the sequence of an entry, and reading a single body. */
const COST_ENTRY = 1
const COST_FETCHED = 4

/** Finds them, ascending; undefined: scan. The returned function may throw a Miss; it continues when it is called again. */
export function findCandidates(
  source: QuerySource,
  filters: ChangeFilters,
  since: number,
  end: number,
): () => number[] | undefined {
  const { ids, condition } = filters
  if (condition !== undefined && isNever(condition)) return () => []
  if (ids === undefined && condition === undefined) return () => undefined
  const { documents } = source
  let collect: (() => number[]) | undefined
  let numbers: number[] | undefined
  return () => {
    if (collect === undefined) {
      const changes = documents.bodies.count({ gte: numberKey(since + 1) })
      if (ids === undefined && changes < CHANGES_MIN) return undefined
      const cheap = (entries: number): boolean =>
        entries <= CANDIDATES_MAX && entries * COST_ENTRY + Math.min(entries, changes) * COST_FETCHED < changes
      if (ids !== undefined && cheap(ids.size)) collect = () => numbersOfIds(source, ids)
      else if (condition !== undefined) collect = matchingNumbers(source, condition, cheap)
      if (collect === undefined) return undefined
    }
    numbers ??= collect().sort((left, right) => left - right)
    return sequencesOf(source, numbers).filter((sequence) => sequence > since && sequence <= end)
  }
}

function numbersOfIds({ documents }: QuerySource, ids: ReadonlySet<string>): number[] {
  const keys = Array.from(ids, idKey).sort()
  return documents.withDeleted(keys, documents.numbersOf(keys)).filter((number) => number !== undefined)
}

/** Sequences of the live documents on an access path, and of all tombstones: these are in no index. */
function matchingNumbers(
  source: QuerySource,
  condition: Condition,
  cheap: (entries: number) => boolean,
): (() => number[]) | undefined {
  const deleted = deletedTree(source)
  const paths = pathsOfAllKinds(source, condition).filter(({ kind }) => kind !== 'scan')
  const path = paths.toSorted((left, right) => left.rows - right.rows)[0]
  if (path === undefined || !cheap(path.rows + deleted.count())) return undefined
  return collectNumbers(source, path, deleted)
}

function collectNumbers(source: QuerySource, path: AccessPath, deleted: TreeReader): () => number[] {
  const numbers: number[] = []
  const entries = scanEntries(source, path, { reverse: false, skip: 0, fieldCount: undefined })
  const tombstones = deleted.cursor()
  let ended = false
  return () => {
    while (!ended) {
      const rows = entries.next(BATCH_ROWS_MAX)
      if (rows === undefined) ended = true
      else for (const { number } of rows) numbers.push(number)
    }
    while (tombstones.next()) numbers.push(readNumber(tombstones.value))
    return numbers
  }
}

/** `numbers` are ascending. So is the result. */
function sequencesOf({ documents }: QuerySource, numbers: readonly number[]): number[] {
  const moved = existingTree(documents.snapshot, documents.collection.trees.sequences)
  if (moved.count() === 0) return [...numbers]
  const sequences = moved
    .getMany(numbers.map<Key>(numberKey))
    .map((value, at) => (value === undefined ? numbers[at]! : readNumber(value)))
  return sequences.sort((left, right) => left - right)
}

function deletedTree({ documents }: QuerySource): TreeReader {
  return existingTree(documents.snapshot, documents.collection.trees.deleted)
}

/** The filters of a feed. A change has to meet all of them. */
export interface ChangeFilters {
  readonly condition: Condition | undefined
  readonly ids: ReadonlySet<string> | undefined
  readonly accept: ((document: StoredDocument) => unknown) | undefined
}

/** Gives the document of a change that passes, decoded if a filter or `docs` needs it; false for one that does not. */
export type PassChange = (body: BodyView) => StoredDocument | boolean

export function compileFilters(documents: DocumentReader, filters: ChangeFilters, docs: boolean): PassChange {
  const { condition, ids, accept } = filters
  const test =
    condition === undefined || isAlways(condition) ? undefined : compileCondition(condition, changedFields(documents))
  return (body) => {
    if (ids !== undefined && !ids.has(body.id)) return false
    if (test !== undefined && !test(body)) return false
    if (accept === undefined && !docs) return true
    const document = documents.decode(body)
    return accept === undefined || Boolean(notPromised('changes()', 'filter', accept(document))) ? document : false
  }
}

/** As `bodyFields`, and `_deleted` is a field. */
function changedFields(documents: DocumentReader): (path: string) => ReadField<BodyView> {
  const fieldOf = bodyFields(documents)
  return (path) => {
    if (path === '_deleted') return (body) => (body.deleted ? true : undefined)
    const read = fieldOf(path)
    if (path === '_id' || path === '_rev') return read
    return (body) => (body.contentStart < body.contentEnd ? read(body) : undefined)
  }
}
