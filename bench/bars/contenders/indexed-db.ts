/**
 * Plain IndexedDB, used well: a record per document, one transaction per bulk, native indexes, `getAll` rather than
 * cursors, key cursors to skip, relaxed durability, transactions committed at once rather than by themselves (a put is
 * 15-25% faster for it in all three engines).
 */
import type { CityScore, Contender } from './contender.ts'
import type { Person } from '../../documents.ts'

const STORE = 'people'
/** Firefox reads small batches twice as fast as large ones; for the others it hardly matters, and less so for larger ones. */
const FILTER_BATCH = navigator.userAgent.includes('Firefox') ? 500 : 5_000

export function indexedDbContender(): Contender {
  return new IndexedDbContender()
}

class IndexedDbContender implements Contender {
  #database: IDBDatabase | undefined
  #place = ''

  async open(place: string): Promise<void> {
    this.#place = place
    this.#database = await openDatabase(place, undefined, (request) => {
      if (request.result.objectStoreNames.length === 0) request.result.createObjectStore(STORE, { keyPath: '_id' })
    })
  }

  async close(): Promise<void> {
    this.#database?.close()
  }

  insertMany(people: readonly Person[]): Promise<void> {
    return this.#write((store) => {
      for (const person of people) store.add(person)
      store.transaction.commit()
    })
  }

  async buildIndexes(): Promise<void> {
    const version = this.#database!.version + 1
    this.#database!.close()
    this.#database = await openDatabase(this.#place, version, (request) => {
      const store = request.transaction!.objectStore(STORE)
      store.createIndex('age', 'age')
      store.createIndex('city', 'city')
    })
  }

  insert(person: Person): Promise<void> {
    return this.#write((store) => {
      store.add(person)
      store.transaction.commit()
    })
  }

  update(id: string, change: (person: Person) => Person): Promise<void> {
    return this.#write((store) => {
      const request = store.get(id)
      request.onsuccess = () => {
        store.put(change(request.result as Person))
        store.transaction.commit()
      }
    })
  }

  get(id: string): Promise<Person | undefined> {
    return answer<Person | undefined>(this.#store().get(id))
  }

  count(): Promise<number> {
    return answer(this.#store().count())
  }

  countAges(gte: number, lt: number): Promise<number> {
    return answer(
      this.#store()
        .index('age')
        .count(IDBKeyRange.bound(gte, lt, false, true)),
    )
  }

  countCity(city: string): Promise<number> {
    return answer(this.#store().index('city').count(city))
  }

  /** In batches, so that not all documents are in memory at once; a batch is asked for before the last one is looked at. */
  findByCountry(country: string): Promise<readonly Person[]> {
    const store = this.#store()
    const found: Person[] = []
    return new Promise((resolve, reject) => {
      const readAfter = (range: IDBKeyRange | undefined): void => {
        const request = store.getAll(range, FILTER_BATCH)
        request.onerror = () => reject(request.error)
        request.onsuccess = () => {
          const batch = request.result as Person[]
          const last = batch.at(-1)
          if (last !== undefined) readAfter(IDBKeyRange.lowerBound(last._id, true))
          for (const person of batch) if (person.country === country) found.push(person)
          if (last === undefined) resolve(found)
        }
      }
      readAfter(undefined)
    })
  }

  findByCity(city: string): Promise<readonly Person[]> {
    return answer<Person[]>(this.#store().index('city').getAll(city))
  }

  /** An index can't hand out its keys without a cursor, which is slower than reading the documents. */
  async findScoresByCity(city: string): Promise<readonly CityScore[]> {
    const people = await answer<Person[]>(this.#store().index('city').getAll(city))
    return people.map((person) => ({ city: person.city, score: person.score }))
  }

  async pageById(skip: number, limit: number): Promise<readonly Person[]> {
    const store = this.#store()
    const [first] = await skipKeys(store, skip, 1)
    return first === undefined ? [] : answer<Person[]>(store.getAll(IDBKeyRange.lowerBound(first), limit))
  }

  async pageByAge(skip: number, limit: number): Promise<readonly Person[]> {
    const store = this.#store()
    const keys = await skipKeys(store.index('age'), skip, limit)
    return Promise.all(keys.map((key) => answer<Person>(store.get(key))))
  }

  #store(): IDBObjectStore {
    return this.#database!.transaction(STORE, 'readonly').objectStore(STORE)
  }

  #write(work: (store: IDBObjectStore) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const transaction = this.#database!.transaction(STORE, 'readwrite', { durability: 'relaxed' })
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
      work(transaction.objectStore(STORE))
    })
  }
}

function openDatabase(
  name: string,
  version: number | undefined,
  upgrade: (request: IDBOpenDBRequest) => void,
): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version)
  request.onupgradeneeded = () => upgrade(request)
  return answer(request)
}

/** The primary keys of the entries from rank `skip` on. */
function skipKeys(source: IDBObjectStore | IDBIndex, skip: number, limit: number): Promise<IDBValidKey[]> {
  const keys: IDBValidKey[] = []
  let skipped = skip === 0
  return new Promise((resolve, reject) => {
    const request = source.openKeyCursor()
    request.onerror = () => reject(request.error)
    request.onsuccess = () => {
      const cursor = request.result
      if (cursor === null) return resolve(keys)
      if (!skipped) {
        skipped = true
        return cursor.advance(skip)
      }
      keys.push(cursor.primaryKey)
      if (keys.length === limit) resolve(keys)
      else cursor.continue()
    }
  })
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
