/** Awaits one promise of a table, and nothing else keeps its process. Prints what the promise gave. `node awaiting-program.ts NAME` */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
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
    const options = { to: DOWN, fetch, timeoutMs: 500 }
    return (await docs()).collection('c').replicate(options).catch(codeOf)
  },
  'a write that has its turn in time or not': async () => {
    const db = await docs({ writeWaitMsMax: 700 })
    void db.transaction(() => new Promise(() => {}))
    await new Promise((resolve) => setTimeout(resolve))
    return db.collection('c').insert({ _id: 'b' }).then(String, codeOf)
  },
  'a live sync without a server': async () => (await docs()).collection('c').sync(DOWN, { live: true }),
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
