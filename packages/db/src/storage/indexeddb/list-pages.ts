/** Which pages there are: only integrity checks ask. */
import type { PageId } from '../../base/brand.ts'
import type { Connection } from './connection.ts'
import { META, PAGES } from './open.ts'
import { requestMeta } from './stored-meta.ts'

export function listPages(connection: Connection): Promise<PageId[]> {
  return connection.read([META, PAGES], (work) => {
    const current = requestMeta(work)
    const keys = work.store(PAGES).getAllKeys() as IDBRequest<IDBValidKey[]>
    return () => {
      const freed = new Set(current.result?.freed)
      return (keys.result as PageId[]).filter((id) => !freed.has(id))
    }
  })
}
