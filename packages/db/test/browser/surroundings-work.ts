/** What can be asked of the library wherever it runs: each part of it, among them those that are loaded later. */
import { firstOf, indexedDb, isPannierError, open, preload } from '../../src/all.ts'
import { opfs } from '../../src/opfs.ts'

export interface Work {
  readonly name: string
  readonly storage: 'indexeddb' | 'chosen'
}

/** `ok`, or the code of the error, of each part. */
export async function inSurroundings({ name, storage }: Work): Promise<Record<string, string>> {
  const said: Record<string, string> = {}
  const step = async (part: string, run: () => unknown): Promise<void> => {
    try {
      await run()
      said[part] = 'ok'
    } catch (error) {
      said[part] = isPannierError(error) ? error.code : String(error)
    }
  }
  const place = storage === 'chosen' ? firstOf(opfs(), indexedDb()) : indexedDb()
  const db = await open(name, { storage: place }).catch((error: unknown) => {
    said['open'] = isPannierError(error) ? error.code : String(error)
  })
  if (db === undefined) return said
  said['open'] = db.storage
  const rows = db.collection<{ n: number }>('rows', { indexes: ['n'] })
  await step('preload', () => preload())
  await step('upsert', () => rows.upsert({ _id: 'of-work', n: -1 }))
  await step('find', () =>
    rows
      .find({ n: { $lt: 0 } })
      .sort('-n')
      .toArray(),
  )
  await step('transaction', () => db.transaction((tx) => tx.collection('rows').upsert({ _id: 'of-work', n: -2 })))
  await step('changes', () => rows.changes().toArray())
  await step('live', () => rows.find().live().ready)
  await step('attachment', () => rows.putAttachment('of-work', 'f.txt', 'x'))
  await step('view', () => rows.mapReduce({ map: ({ n }, emit) => emit(n) }))
  await step('aggregate', () => rows.find().aggregate({ most: { $max: 'n' } }))
  await step('export', () => rows.export().pipeTo(new WritableStream()))
  await step('check', () => db.check())
  await step('sync', () => rows.sync('http://127.0.0.1:9/x', { retry: false } as never))
  await db.close()
  return said
}
