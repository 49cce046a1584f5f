/**
 * Goal: what an encrypted database leaves in a browser, record by record and file by file, shows nothing of it; and whatever is
 * changed there brings a typed error, never wrong data.
 *
 * Method: the database is closed, and its records or files are read and changed as any script of the origin may.
 */
import { isPannierError, open, type Credential } from '../../src/index.ts'
import { indexedDb } from '../../src/storage/indexeddb/indexeddb.ts'
import { folderName } from '../../src/storage/opfs/folder.ts'
import { opfs } from '../../src/storage/opfs/opfs.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { assertEqual, assertTrue } from '../../testing/check.ts'
import { newDeviceKey } from '../../testing/conformance/encryption.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Test } from '../../testing/suite.ts'
import { fillPatients, WORDS, wordsIn } from '../storage/encrypted/patients.ts'

/** A piece of what is stored: an IndexedDB value, or a file. */
interface Piece {
  /** As bytes and text, keys included. */
  readonly bytes: Uint8Array
  /** Replaces its bytes, or removes it. */
  put(bytes: Uint8Array | undefined): Promise<void>
  /** Store, or name of the file. */
  readonly place: string
}

interface Place {
  readonly storage: DatabaseStorage
  pieces(name: string): Promise<Piece[]>
}

/** Without files where there is no private file system. */
export function rawStorageSuite({ test, hasFiles }: { readonly test: Test; readonly hasFiles: boolean }): void {
  const records: Place = { storage: indexedDb(), pieces: recordsOf }
  const files: Place = { storage: opfs(), pieces: filesOf }
  for (const [kind, place] of [['IndexedDB', records] as const, ...(hasFiles ? [['OPFS', files] as const] : [])]) {
    for (const isEncrypted of [true, false]) {
      const title = isEncrypted ? 'shows nothing' : 'shows all of a plain one, so the search is a good one'
      test(`${kind} ${title}`, () => lookForWords(place, `raw-${kind}-${isEncrypted}`, isEncrypted))
    }
  }
  test('IndexedDB, records flipped, cut, swapped, removed: a typed error', () => changeRecords(records))
  if (hasFiles) test('OPFS, files flipped and cut: a typed error', () => changeFiles(files))
}

async function lookForWords({ storage, pieces }: Place, name: string, isEncrypted: boolean): Promise<void> {
  const found = new Set<string>()
  const look = async (): Promise<void> => {
    for (const word of wordsIn((await pieces(name)).map(({ bytes }) => bytes))) found.add(word)
  }
  const encryption = isEncrypted ? { key: await newDeviceKey() } : undefined
  await fillPatients({ storage, name, encryption, patientCount: 200, look })
  assertEqual([...found].sort(), isEncrypted ? [] : [...WORDS])
  await storage.destroy(name)
}

const DOCUMENTS = 305

const textOf = (number: number): string => `Text of ${number} `.repeat(30)

async function makeDocuments(storage: DatabaseStorage, name: string, encryption: Credential): Promise<void> {
  const db = await open(name, { storage, encryption })
  const docs = db.collection<{ _id: string; text: string; n: number }>('docs', { indexes: ['n'] })
  const insert = (from: number, to: number): Promise<unknown> =>
    docs.insert(
      Array.from({ length: to - from }, (_, at) => ({ _id: `d${from + at}`, n: from + at, text: textOf(from + at) })),
    )
  await insert(0, 300)
  await db.flush()
  for (let number = 300; number < DOCUMENTS; number++) await insert(number, number + 1)
  await db.close()
}

/** How many documents are read, by id and by the index, all of them right; or the code of the error. */
async function outcome(storage: DatabaseStorage, name: string, encryption: Credential): Promise<number | string> {
  try {
    const db = await open(name, { storage, encryption })
    try {
      const docs = db.collection<{ _id: string; text: string; n: number }>('docs')
      const byId = await docs.find().toArray()
      const byIndex = await docs.find({ n: { $gte: 0 } }).toArray()
      assertEqual(byIndex.length, byId.length)
      for (const { _id, n, text } of [...byId, ...byIndex]) assertEqual([_id, text], [`d${n}`, textOf(n)])
      assertEqual(new Set(byId.map(({ n }) => n)).size, byId.length)
      return byId.length
    } finally {
      await db.close().catch(() => {})
    }
  } catch (error) {
    if (isPannierError(error)) return error.code
    throw error
  }
}

async function changeRecords({ storage, pieces }: Place): Promise<void> {
  const name = 'raw-changed'
  const encryption = { key: await newDeviceKey() }
  await makeDocuments(storage, name, encryption)
  assertEqual(await outcome(storage, name, encryption), DOCUMENTS)
  const random = seededRandom(1)
  const found = (await pieces(name)).filter(({ place }) => /^(pages|log|log seal|header|meta)$/.test(place))
  // The first one stands for those before it: it is not read any more.
  const fence = found.find(({ place }) => place === 'log')
  const all = found.filter((piece) => piece !== fence)
  const seen = new Map<string, Set<number | string>>()
  for (const piece of all) {
    const sibling = all.find((other) => other !== piece && other.place === piece.place)
    const changes = [flipped(piece.bytes, random.below(piece.bytes.length)), undefined]
    if (piece.place !== 'log seal') changes.push(piece.bytes.slice(0, -1))
    if (sibling) changes.push(sibling.bytes)
    // The keyring is there twice in its record: one copy may be anything.
    if (piece.place === 'header') changes.push(piece.bytes.map((byte, at) => (at < 8 ? byte : byte ^ 0x55)))
    for (const change of changes) {
      await piece.put(change)
      const result = await outcome(storage, name, encryption)
      seen.set(piece.place, (seen.get(piece.place) ?? new Set()).add(result))
      await piece.put(piece.bytes)
    }
  }
  assertEqual(await outcome(storage, name, encryption), DOCUMENTS)
  // A page that nobody reads may be anything, and so may one of the two copies of the keyring. Without its keyring it is none.
  const allowed: Record<string, readonly (number | string)[]> = {
    pages: ['PANNIER_CORRUPT', DOCUMENTS],
    header: ['PANNIER_CORRUPT', 'PANNIER_FORMAT_NEWER', 'PANNIER_NOT_ENCRYPTED', DOCUMENTS],
  }
  for (const [place, results] of seen) {
    for (const result of results)
      assertTrue((allowed[place] ?? ['PANNIER_CORRUPT']).includes(result), `${place}: ${result}`)
    assertTrue(results.has('PANNIER_CORRUPT'), `a change of ${place} is noticed`)
  }
  assertEqual([...seen.keys()].sort(), ['header', 'log', 'log seal', 'meta', 'pages'])
  await storage.destroy(name)
}

/** A file's end that is cut off can be a write that never was: then what was there before is found, as docs/internals/security.md says. */
async function changeFiles({ storage, pieces }: Place): Promise<void> {
  const name = 'raw-changed'
  const encryption = { key: await newDeviceKey() }
  await makeDocuments(storage, name, encryption)
  const images = await pieces(name)
  const random = seededRandom(1)
  const seen = new Set<number | string>()
  const restore = async (): Promise<void> => {
    for (const { bytes, put } of images) await put(bytes)
  }
  for (const { bytes, put } of images) {
    if (bytes.length === 0) continue
    const changes = Array.from({ length: 6 }, () => flipped(bytes, random.below(bytes.length)))
    for (const change of [...changes, bytes.slice(0, random.below(bytes.length)), undefined]) {
      await put(change)
      seen.add(await outcome(storage, name, encryption))
      await restore()
    }
  }
  assertEqual(await outcome(storage, name, encryption), DOCUMENTS)
  for (const result of seen) {
    const isWhole = typeof result === 'number' && result <= DOCUMENTS && (result >= 300 || result === 0)
    assertTrue(isWhole || result === 'PANNIER_CORRUPT', `outcome ${result}`)
  }
  assertTrue(seen.has('PANNIER_CORRUPT'), 'some change is noticed')
  await storage.destroy(name)
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice()
  copy[at]! ^= 1 << (at & 7)
  return copy
}

/** Every record of every store. */
async function recordsOf(name: string): Promise<Piece[]> {
  const database = await done(indexedDB.open(`pannier:${name}`))
  const found: Piece[] = []
  for (const store of database.objectStoreNames) {
    const reading = database.transaction(store).objectStore(store)
    const [keys, values] = await Promise.all([done(reading.getAllKeys()), done(reading.getAll())])
    for (const [index, key] of keys.entries()) {
      const value: unknown = values[index]
      found.push({
        place: placeOf(store, key),
        bytes: bytesOf(value) ?? new TextEncoder().encode(JSON.stringify([key, value])),
        put: (bytes) => putRecord(name, store, key, bytes && withBytes(value, bytes)),
      })
    }
    found.push({
      place: 'keys',
      bytes: new TextEncoder().encode(JSON.stringify([store, ...keys])),
      put: async () => {},
    })
  }
  database.close()
  return found
}

/** 'pages', 'log', 'log seal', or the key in `meta`. */
function placeOf(store: string, key: IDBValidKey): string {
  if (store === 'log') return typeof key === 'number' ? 'log' : Array.isArray(key) ? 'log seal' : 'log end'
  return store === 'meta' ? (key as string) : store
}

/** What is sealed of a record: itself, or its property. The other properties are numbers. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  return (value as { bytes?: Uint8Array } | null)?.bytes
}

function withBytes(value: unknown, bytes: Uint8Array): unknown {
  return value instanceof Uint8Array ? bytes : { ...(value as object), bytes }
}

async function putRecord(name: string, store: string, key: IDBValidKey, value: unknown): Promise<void> {
  const database = await done(indexedDB.open(`pannier:${name}`))
  const writing = database.transaction(store, 'readwrite').objectStore(store)
  if (value === undefined) await done(writing.delete(key))
  else await done(writing.put(value, key))
  database.close()
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error!)
  })
}

/** Every file of the database's folder. */
async function filesOf(name: string): Promise<Piece[]> {
  const root = await navigator.storage.getDirectory()
  const folder = await (await root.getDirectoryHandle('pannier')).getDirectoryHandle(folderName(name))
  const found: Piece[] = []
  for (const file of ['pages', 'journal-a', 'journal-b']) {
    found.push({
      place: file,
      bytes: new Uint8Array(await (await (await folder.getFileHandle(file)).getFile()).arrayBuffer()),
      async put(bytes) {
        const writable = await (await folder.getFileHandle(file, { create: true })).createWritable()
        await writable.write((bytes ?? new Uint8Array(0)) as Uint8Array<ArrayBuffer>)
        await writable.close()
      },
    })
  }
  return found
}
