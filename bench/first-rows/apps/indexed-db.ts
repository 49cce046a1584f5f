/** Plain IndexedDB: `getAll` on an index gives the rows in one request. */
import type { Person } from '../../documents.ts'
import { CREATED_FROM, ROWS } from './app.ts'
import type { App } from './app.ts'

const STORE = 'people'

let database: IDBDatabase

export const app: App = {
  async open(place) {
    const request = indexedDB.open(place, 1)
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE, { keyPath: '_id' }).createIndex('created', 'created')
    }
    database = await answer(request)
  },
  firstRows() {
    const index = database.transaction(STORE, 'readonly').objectStore(STORE).index('created')
    return answer<Person[]>(index.getAll(IDBKeyRange.lowerBound(CREATED_FROM), ROWS))
  },
  fill(people) {
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite')
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
      for (const person of people) transaction.objectStore(STORE).add(person)
      transaction.commit()
    })
  },
  close: () => database.close(),
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
