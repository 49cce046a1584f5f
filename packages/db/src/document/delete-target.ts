/** What is to be deleted, as it is named by callers. */
import type { Key } from '../base/brand.ts'
import { checkId } from './document-id.ts'
import { checkBatchSize } from './encoded-batch.ts'

/** A document to be deleted; with `revision` only that leaf of it. */
export interface DeleteTarget {
  readonly id: string
  readonly key: Key
  readonly revision: string | undefined
}

/** Checks what a caller wants to have deleted: an id or a document (with or without `_rev`). */
export function checkTargets(inputs: readonly unknown[]): DeleteTarget[] {
  checkBatchSize(inputs.length)
  return inputs.map((input) => {
    const { _id, _rev } = (typeof input === 'object' && input !== null ? input : { _id: input }) as Record<
      string,
      unknown
    >
    if (_rev !== undefined && typeof _rev !== 'string') throw new TypeError('_rev is a string')
    const key = checkId(_id)
    return { id: _id as string, key, revision: _rev }
  })
}
