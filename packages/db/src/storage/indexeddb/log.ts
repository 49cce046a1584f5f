/**
 * The records of the log, and the fence of appends.
 *
 * The engine generates the keys and never gives one twice, not even that of a deleted record. A handle that knows the
 * last key appends, and gets the key after it unless another handle has appended since. So the fence needs no request
 * of its own, and the transaction commits at once.
 *
 * The record of a stale handle is refused, and stays where it is: behind a record with its sequence or a higher one.
 * So a record counts if its sequence is higher than all before it. After a refused record keys are ahead of sequences;
 * they are never behind them.
 */
import type { CommitSequence } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import type { LogRecord } from '../page-store.ts'
import type { Work } from './connection.ts'
import { LOG, LOG_END } from './open.ts'

interface StoredRecord extends LogRecord {
  /** The key that its writer expected. Equal to its key: the record counts. */
  readonly key: number
}

/** The part of the log that this handle knows. */
export interface Seen {
  /** The newest record that counts; -1: not known. */
  newest: number
  /** The last key, of a record that counts or not. Others may have appended since. */
  key: number
}

/** A record that was added; its key is the one expected, or has to be judged. */
export interface Placement {
  readonly request: IDBRequest<IDBValidKey>
  readonly expected: number
}

/** Keys of records, those of log seals and the end left out. */
export function recordKeys(after: number): IDBKeyRange {
  return IDBKeyRange.bound(after, LOG_END, true, true)
}

/** Requests that a record be added. It follows the last key, as far as this handle knows. */
export function addRecord(work: Work, { sequence, bytes }: LogRecord, lastKey: number): Placement {
  const record: StoredRecord = { sequence, key: lastKey + 1, bytes: exact(bytes) }
  return { request: work.store(LOG).add(record), expected: record.key }
}

/** Calls `add` if the record is the next one. `lastKey`: this handle has seen so. */
export function whenNext(
  work: Work,
  { sequence }: LogRecord,
  lastKey: number | undefined,
  add: (lastKey: number) => void,
): void {
  if (lastKey !== undefined) return add(lastKey)
  const log = work.store(LOG)
  const last = log.openCursor(IDBKeyRange.upperBound(LOG_END, true), 'prev')
  const judge = (newest: number): void => {
    if (newest === sequence - 1) add((last.result?.key ?? 0) as number)
    else work.fail(stale())
  }
  last.onsuccess = () => {
    const record = last.result?.value as StoredRecord | undefined
    if (record?.key === last.result?.key) return judge(record?.sequence ?? 0)
    const all = log.getAll(recordKeys(-1)) as IDBRequest<StoredRecord[]>
    all.onsuccess = () => judge(newestOf(all.result))
  }
}

/** The records that count and come after a sequence, of records in the order of their keys. */
export function countingRecords(stored: readonly LogRecord[], after: number): LogRecord[] {
  const records: LogRecord[] = []
  let newest = after
  for (const { sequence, bytes } of stored) {
    if (sequence <= newest) continue
    records.push({ sequence, bytes })
    newest = sequence
  }
  return records
}

/** The highest sequence, which is that of a record that counts; -1 without records. */
export function newestOf(stored: readonly LogRecord[]): number {
  return stored.reduce((newest, { sequence }) => Math.max(newest, sequence), -1)
}

/** Requests all records and their keys; the function returned says whether the one with that key counts; undefined if it is gone. */
export function requestJudgement(work: Work, key: number, sequence: CommitSequence): () => boolean | undefined {
  const log = work.store(LOG)
  const keys = log.getAllKeys(recordKeys(-1))
  const stored = log.getAll(recordKeys(-1)) as IDBRequest<StoredRecord[]>
  return () => {
    const at = keys.result.indexOf(key)
    return at < 0 ? undefined : newestOf(stored.result.slice(0, at)) < sequence
  }
}

/** IndexedDB stores the whole buffer below a view. */
export function exact(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice()
}

export function stale(): PannierError {
  return new PannierError('PANNIER_STALE', 'Another handle has written since.')
}
