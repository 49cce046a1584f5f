/** Cases of conformance suites on databases: each gets one that is new. */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { assertEqual } from '../check.ts'
import type { SuiteContext, Test } from '../suite.ts'

export type CheckedCase = (name: string, body: (db: Database) => Promise<void>) => void

/** Each case ends with the integrity check. */
export function checkedCases({ test, create }: SuiteContext<() => Promise<Database>>): CheckedCase {
  return (name, body) => {
    test(name, async () => {
      const db = await create()
      try {
        await body(db)
        assertEqual((await db.check()).problems, [])
      } finally {
        await db.close()
      }
    })
  }
}

export type Open = () => Promise<Database>
export type ItemCase<T extends object> = (
  name: string,
  body: (items: Collection<T>, db: Database, open: Open) => Promise<void>,
) => void

/** Cases that may open more handles on their database. All are closed. */
export function itemCases<T extends object = JsonObject>(test: Test, create: () => { open: Open }): ItemCase<T> {
  return (name, body) => {
    test(name, async () => {
      const { open } = create()
      const opened: Database[] = []
      const openMore = async (): Promise<Database> => {
        const db = await open()
        opened.push(db)
        return db
      }
      const db = await openMore()
      try {
        await body(db.collection<T>('items'), db, openMore)
      } finally {
        for (const handle of opened) await handle.close()
      }
    })
  }
}
