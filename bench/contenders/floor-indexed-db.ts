/** The records of the floor in IndexedDB, in one transaction. */
import type { RecordStore } from './floor.ts'

const STORE = 'records'

export function indexedDbRecords(): RecordStore {
  let database: IDBDatabase | undefined
  const write = (work: (store: IDBObjectStore) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      const transaction = database!.transaction(STORE, 'readwrite', { durability: 'relaxed' })
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
      work(transaction.objectStore(STORE))
      transaction.commit()
    })
  return {
    async open(place) {
      const request = indexedDB.open(place)
      request.onupgradeneeded = () => request.result.createObjectStore(STORE, { autoIncrement: true })
      database = await answer(request)
    },
    close: () => database?.close(),
    write: (records) =>
      write((store) => {
        for (const record of records) store.add(record)
      }),
    readAll: () => answer<Uint8Array[]>(database!.transaction(STORE).objectStore(STORE).getAll()),
    clear: () => write((store) => store.clear()),
    async destroy(place) {
      await answer(indexedDB.deleteDatabase(place))
    },
  }
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
