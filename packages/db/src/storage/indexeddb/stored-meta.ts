/** The meta record as it is stored, and what requests for it and for the ends of the log give. */
import type { MetaRecord } from '../page-store.ts'
import type { PageId } from '../../base/brand.ts'
import type { Work } from './connection.ts'
import { META } from './open.ts'

/** Its key in `meta`. */
export const CURRENT = 'meta'

/** `freed`: ids that this commit freed. They are deleted soon after, or by the next commit. */
export type StoredMeta = MetaRecord & { readonly freed: readonly PageId[] }

export type MetaRequest = IDBRequest<StoredMeta | undefined>

export function requestMeta(work: Work): MetaRequest {
  return work.store(META).get(CURRENT) as MetaRequest
}

export function generationOf(request: MetaRequest): number {
  return request.result?.generation ?? 0
}

/** The number under the cursor; 0 where there is nothing. */
export function keyOf(request: IDBRequest<IDBCursor | null>): number {
  return (request.result?.key as number | undefined) ?? 0
}
