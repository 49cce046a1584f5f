/** Awaits one promise of a table, and nothing else keeps its process. Prints what the promise gave. `node awaiting-program.ts NAME` */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { couchFetch } from '../../db/testing/couch-fetch.ts'
import { connect } from '../src/index.ts'

const [, , name] = process.argv
const DOWN = 'http://127.0.0.1:9'
const fails = (): Promise<Response> => Promise.reject(new TypeError('no network'))

const codeOf = (error: unknown): string => (error as { code: string }).code

async function docs(options: { readonly writeWaitMsMax?: number } = {}) {
  const db = await open('x', { storage: memory(), ...options })
  await db.collection('c').insert({ _id: 'a' })
  return db
}

async function client(address: string) {
  return connect(address, { storage: memory(), collections: ['tasks'] })
}

const VERSION_2 = { version: 2, migrations: { 2: async (document: object) => ({ ...document, n: 2 }) } }

/** Documents of an older version, and a handle that is to migrate them. */
async function older(options: { readonly writeWaitMsMax?: number } = {}) {
  const storage = memory()
  const old = await open('x', { storage })
  await old.collection('c', { version: 1 }).insert(Array.from({ length: 600 }, (_, n) => ({ _id: `d${n}` })))
  return { old, db: await open('x', { storage, ...options }) }
}

/** A live sync with a server that answers, in this process: nothing else keeps it. */
async function healthy() {
  const fetch = couchFetch(await open('server', { storage: memory() }))
  // To await it is to await its end.
  return { sync: (await docs()).collection('c').sync('https://couch.test/c', { live: true, fetch }) }
}

const AWAITED: Readonly<Record<string, () => Promise<unknown>>> = {
  'tries of a one-shot': async () => {
    let tries = 0
    const fetch = async (): Promise<Response> =>
      ++tries < 4 ? fails() : new Response('{"error":"x"}', { status: 400 })
    const sync = (await docs()).collection('c').replicate({ to: DOWN, retry: true, fetch, backOff: () => 200 })
    await sync.catch(() => {})
    return tries
  },
  'headers that come late': async () => {
    const headers = async (): Promise<object> => {
      // Not awaited by anything else: a timer of the app's own.
      await new Promise((resolve) => setTimeout(resolve, 300))
      return {}
    }
    const options = { to: DOWN, fetch: fails, headers: headers as never }
    return (await docs()).collection('c').replicate(options).catch(codeOf)
  },
  'a silent server': async () => {
    const fetch = (_: string, { signal }: RequestInit): Promise<Response> =>
      new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error)))
    const options = { to: DOWN, fetch, silenceMsMax: 500 }
    return (await docs()).collection('c').replicate(options).catch(codeOf)
  },
  'a write that has its turn in time or not': async () => {
    const db = await docs({ writeWaitMsMax: 700 })
    void db.transaction(() => new Promise(() => {}))
    await new Promise((resolve) => setTimeout(resolve))
    return db.collection('c').insert({ _id: 'b' }).then(String, codeOf)
  },
  'a live sync without a server': async () => (await docs()).collection('c').sync(DOWN, { live: true }),
  'a live sync with a server': async () => (await healthy()).sync,
  'a live sync that ends': async () => {
    const { sync } = await healthy()
    setTimeout(() => sync.cancel(), 300)
    return (await sync).status
  },
  'a migration': async () => {
    const { old, db } = await older()
    await old.close()
    const all = db.collection<{ n?: number }>('c', VERSION_2)
    await all.ready()
    return all.find({ n: 2 }).count()
  },
  'a migration that a read waits for': async () => {
    const { old, db } = await older()
    await old.close()
    return (await db.collection<{ n?: number }>('c', VERSION_2).get('d7'))?.n
  },
  'a migration that has its turn in time or not': async () => {
    const { old, db } = await older({ writeWaitMsMax: 700 })
    void old.transaction(() => new Promise(() => {}))
    await new Promise((resolve) => setTimeout(resolve))
    return db.collection('c', VERSION_2).ready().then(String, codeOf)
  },
  'documents that are migrated again': async () => {
    const { old, db } = await older()
    await old.close()
    let fails = true
    const migrate = async (document: object): Promise<object> => {
      if (fails) throw new Error('not yet')
      return document
    }
    const all = db.collection('c', { version: 2, migrations: { 2: migrate } } as never)
    await all.ready()
    fails = false
    return (await all.retryMigration()).migrated
  },
  "a server's answer to a write": async () => (await client(DOWN)).collection('tasks').create({ title: 'a' }).server,
  'everything of the database': async () => {
    const db = await docs()
    const all = db.collection<{ n?: number }>('c', { indexes: ['n'] })
    await all.ready()
    await all.view('v', { map: (_, emit) => emit(1), version: 1 }).query()
    await all.mapReduce({ map: (_, emit) => emit(1) })
    await db.transaction((tx) => tx.collection('c').update('a', { n: 1 }))
    await all.export().pipeTo(new WritableStream())
    await db.flush()
    const live = all.find().live()
    live.subscribe(() => {})
    return (await all.find().toArray()).length
  },
  'a sync of a client': async () => (await client(DOWN)).sync().catch(codeOf),
}

console.log('ended:', String(await AWAITED[name!]!()))
