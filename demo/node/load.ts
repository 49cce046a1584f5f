/**
 * Loads the cities into the server's database: first the documents, then the indexes.
 *
 * A record says how far a load has come, so an interrupted load (Ctrl+C, a crash) continues there. The record is in a
 * collection whose name has a `$`, so it is not a CouchDB database. Each batch is one atomic write, and the source has
 * a fixed order. So the number of documents is the position to continue from.
 */
import type { Collection, Database } from 'pannier'
import { COLLECTION } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { buildIndexes } from '../shared/indexes.ts'

export const BATCH_DOCUMENTS = 5_000

export interface CitySource {
  /** The source of the cities; a load from another source is not continued. */
  readonly name: string
  readonly documents: number
  /** The cities from that position on, in the source's order. */
  batches(from: number): Iterable<readonly City[]>
}

/** The record of a load, whose times add up over interrupted runs. */
export interface LoadRecord {
  readonly _id: string
  readonly source: string
  readonly documents: number
  readonly complete: boolean
  readonly insertMs: number
  readonly indexMs: number
}

export interface LoadProgress {
  readonly phase: 'insert' | 'index'
  /** Documents inserted; of the indexes the part that is built. */
  readonly done: number
}

export interface LoadOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: LoadProgress) => void
}

export async function readLoadRecord(db: Database): Promise<LoadRecord | undefined> {
  return await records(db).get(COLLECTION)
}

/** Forgets the cities and the record of them, and nothing else that the database may have. */
export async function unload(db: Database): Promise<void> {
  await db.dropCollection(COLLECTION)
  await records(db).delete(COLLECTION)
}

/** Throws the signal's reason when it is aborted. Inserted documents stay, and the next load continues. */
export async function loadCities(db: Database, source: CitySource, options: LoadOptions = {}): Promise<LoadRecord> {
  const { signal, onProgress } = options
  const cities = db.collection<City>(COLLECTION)
  const before = await readLoadRecord(db)
  let record: LoadRecord = {
    _id: COLLECTION,
    source: source.name,
    documents: source.documents,
    complete: false,
    insertMs: before?.insertMs ?? 0,
    indexMs: before?.indexMs ?? 0,
  }
  const save = async (change: Partial<LoadRecord>): Promise<void> => {
    record = { ...record, ...change }
    await records(db).upsert(record)
  }

  await save({})
  let done = await cities.find().count()
  onProgress?.({ phase: 'insert', done })
  if (done < source.documents) {
    for (const batch of source.batches(done)) {
      signal?.throwIfAborted()
      const started = performance.now()
      await cities.insert([...batch])
      record = { ...record, insertMs: record.insertMs + performance.now() - started }
      done += batch.length
      onProgress?.({ phase: 'insert', done })
    }
    await save({})
  }

  signal?.throwIfAborted()
  const started = performance.now()
  await buildIndexes(db, { signal, onProgress: (part) => onProgress?.({ phase: 'index', done: part }) })
  await save({ complete: true, indexMs: record.indexMs + performance.now() - started })
  return record
}

function records(db: Database): Collection<LoadRecord> {
  return db.collection<LoadRecord>('$demo')
}
