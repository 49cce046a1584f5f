/**
 * The page of the tests that drive a database in several tabs and workers: `databaseTab` in each of them. Workers run the
 * same script; `inWorker` calls what is theirs.
 */
import { destroy, firstOf, isPannierError, open, type Collection, type Database } from '../../src/index.ts'
import { indexedDb } from '../../src/indexeddb.ts'
import { opfs } from '../../src/opfs.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Call, DatabaseTab, Summary } from './database/tab.ts'
import { frozenAt, frozenWrites, thaw, type FrozenWrite } from './database/frozen-writes.ts'
import { lostStorage } from './database/lost-storage.ts'
import { randomWrites } from './database/random-writes.ts'
import { ROWS, someRow, type Row } from './database/rows.ts'
import { askWorker, answerAsWorker, endWorker, startWorker } from './database/worker-calls.ts'

declare global {
  var databaseTab: DatabaseTab
}

let database: Database | undefined
let rows: Collection<Row>
let walk: AsyncIterator<Row> | undefined
let walked: number[] = []
const heard = new Set<string>()
/** Of a commit that does not list what it changed. */
let heardOfMany = false
const listening: (() => void)[] = []
const frozen = new Map<FrozenWrite, { readonly place: SharedArrayBuffer; readonly write: Promise<unknown> }>()

function opened(): { readonly database: Database; readonly rows: Collection<Row> } {
  if (database === undefined) throw new Error('open a database first')
  return { database, rows }
}

function use(database: Database): void {
  rows = database.collection<Row>(ROWS)
  database.subscribe(({ collections, local }) => {
    const change = collections.get(ROWS)
    if (!local && change !== undefined) hearOf(change.ids)
  })
}

const warnings: string[] = []
console.warn = (text: string) => warnings.push(text)

const tab: DatabaseTab = {
  async open(name, durability = 'relaxed') {
    database = await open(name, {
      ...(location.search.includes('opfs') && { storage: opfs() }),
      ...(location.search.includes('encrypted') && { encryption: { key: await sharedKey() } }),
      durability,
      collections: { [ROWS]: { indexes: ['group'] } },
    })
    use(database)
  },
  async openChosen(name, worker) {
    const missing = (): Worker => new Worker('/missing.js', { type: 'module' })
    const collections = { [ROWS]: { indexes: ['group'] } }
    warnings.length = 0
    const files = opfs(worker === 'missing' ? { worker: missing } : {})
    database = await open(name, { collections, storage: firstOf(files, indexedDb()) })
    use(database)
    return database.storage
  },
  warnings: () => warnings,
  destroyChosen: (name) => destroy(name, { storage: firstOf(opfs(), indexedDb()) }),
  moveToFiles: () => opened().database.moveTo(opfs()),
  close: () => opened().database.close(),
  destroy: () => opened().database.destroy(),
  refresh: () => opened().database.refresh(),
  checkpoint: () => opened().database.flush(),
  dropRows: () => opened().database.dropCollection(ROWS),
  async insert(prefix, from, to, rowsPerCall = 1, calls = 1) {
    let next = from
    const work = async (): Promise<void> => {
      while (next < to) {
        const first = next
        next = Math.min(to, next + rowsPerCall)
        const numbers = Array.from({ length: next - first }, (_, at) => first + at)
        await opened().rows.insert(numbers.map((n) => someRow(`${prefix}${n}`, n)))
      }
    }
    await Promise.all(Array.from({ length: calls }, work))
  },
  async insertLarge(from, count) {
    const large = (n: number): Row => ({ ...someRow(`large${n}`, n), text: randomText(n) })
    await opened().rows.insert(Array.from({ length: count }, (_, at) => large(from + at)))
  },
  async reserveMade() {
    const folder = await navigator.storage.getDirectory()
    const size = (): Promise<number> =>
      folder.getFileHandle('pannier-reserve').then(
        async (file) => (await file.getFile()).size,
        () => 0,
      )
    while ((await size()) === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  },
  async delete(ids) {
    await opened().rows.delete(ids)
  },
  async increment(id, times) {
    const once = (): Promise<unknown> => opened().rows.update(id, (row) => ({ ...row, n: row.n + 1 }))
    await Promise.all(Array.from({ length: times }, once))
  },
  get: (id) => opened().rows.get(id),
  count: () => opened().rows.find().count(),
  summary,
  async buildIndex(index) {
    await opened()
      .database.collection(ROWS, { indexes: [index] })
      .ready()
  },
  async hear(id) {
    while (!(heard.has(id) || (heardOfMany && (await opened().rows.get(id)) !== undefined))) {
      await new Promise<void>((resolve) => listening.push(resolve))
    }
  },
  async beginWalk() {
    walk = opened().rows.find()[Symbol.asyncIterator]()
    walked = []
    for (let row = 0; row < 3; row++) await step()
  },
  async endWalk() {
    while (await step());
    return walked.toSorted((a, b) => a - b)
  },
  async outcome(call, ...parameters) {
    try {
      await dispatch(call, parameters)
      return 'fulfilled'
    } catch (error) {
      if (isPannierError(error)) return error.code
      throw error
    }
  },
  startWorker,
  endWorker,
  inWorker: askWorker,
  async freezeWorker(worker) {
    const place = new SharedArrayBuffer(4)
    const write = askWorker(worker, 'writeFrozen', worker, place)
    frozen.set(worker, { place, write })
    await Promise.race([frozenAt(place), write])
  },
  async thawWorker(worker) {
    const { place, write } = frozen.get(worker)!
    thaw(place)
    return (await write) as number
  },
  ...randomWrites(opened),
  ...frozenWrites(opened),
  ...lostStorage(),
}
globalThis.databaseTab = tab

/** The same in all tabs and workers. */
function sharedKey(): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', new Uint8Array(32).fill(7), 'AES-GCM', false, ['encrypt', 'decrypt'])
}

function dispatch(call: Call, parameters: readonly unknown[]): unknown {
  return (tab[call] as (...parameters: readonly unknown[]) => unknown)(...parameters)
}

/** No engine makes it shorter. */
function randomText(seed: number): string {
  const random = seededRandom(seed)
  let text = ''
  while (text.length < 100_000) text += String.fromCharCode(...Array.from({ length: 50_000 }, () => random.below(128)))
  return text
}

async function summary(): Promise<Summary> {
  await opened().database.refresh()
  const indexed: number[] = []
  for (let group = 0; group < 7; group++) indexed.push(await opened().rows.find({ group }).count())
  let [count, sum, digest] = [0, 0, 0]
  for (const { _id, _rev, n } of await opened().rows.find().sort('_id').toArray()) {
    count++
    sum += n
    for (const char of `${_id} ${_rev} ${n};`) digest = (Math.imul(digest, 31) + char.charCodeAt(0)) | 0
  }
  if ((await opened().rows.find().count()) !== count) throw new Error('the count is not the number of rows')
  return {
    count,
    indexed,
    sum,
    digest,
    problems: (await opened().database.check()).problems.map(({ message }) => message),
  }
}

async function step(): Promise<boolean> {
  const { done, value } = await walk!.next()
  if (done !== true) walked.push(value.n)
  return done !== true
}

function hearOf(ids: readonly string[] | undefined): void {
  if (ids === undefined) heardOfMany = true
  else for (const id of ids) heard.add(id)
  for (const resolve of listening.splice(0)) resolve()
}

if (typeof document === 'undefined') answerAsWorker(dispatch)
