/** Documents by ranges of an index. */
import type { Key } from '../../base/brand.ts'
import { decodeKey } from '../../codec/key-encoding.ts'
import type { IndexField } from '../../document/index-definition.ts'
import type { TreeReader } from '../../kv/key-value-store.ts'
import type { AccessPath } from '../planner/access-path.ts'
import type { EntryRow } from './entry-row.ts'
import { keyScan } from './key-scan.ts'
import { NumberSet } from './number-set.ts'
import type { Operator } from './operator.ts'

export interface IndexScanOptions {
  readonly reverse: boolean
  readonly skip: number
  /** How many fields of the index rows carry, from the first on; undefined: they carry nothing, the document will be read. */
  readonly fieldCount: number | undefined
}

export function indexScan(tree: TreeReader, access: AccessPath, options: IndexScanOptions): Operator<EntryRow> {
  const { reverse, skip, fieldCount } = options
  const fields = access.index!.fields.slice(0, fieldCount)
  const seen = access.distinct ? undefined : new NumberSet()
  return keyScan(access, {
    cursor: (range, cursorOptions) => tree.cursor(range, cursorOptions),
    reverse,
    skip,
    read: (cursor) => {
      const number = cursor.keyNumber
      if (seen !== undefined && !seen.add(number)) return undefined
      return { number, values: fieldCount === undefined ? undefined : valuesOf(cursor.key, fields) }
    },
  })
}

/**
 * Undefined if a value was cut off, or is an array or object: those have more kinds than keys tell apart (typed arrays).
 */
function valuesOf(key: Key, fields: readonly IndexField[]): unknown[] | undefined {
  const values: unknown[] = []
  let at = 0
  for (const { descending } of fields) {
    const { value, next, exact } = decodeKey(key, at, descending)
    if (!exact || (typeof value === 'object' && value !== null)) return undefined
    values.push(value)
    at = next
  }
  return values
}
