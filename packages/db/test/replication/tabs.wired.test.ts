/** Goal: of the tabs that sync the same collections with the same server, one does; the others show how it is, and take over. */
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import type { Database, Replication } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { couchFetch } from '../../testing/couch-fetch.ts'
import { eventually } from '../../testing/suite.ts'

const URL_THERE = 'https://couch.test/'
const NAMES = Array.from({ length: 20 }, (_, n) => `c${n}`)

interface Tab {
  readonly db: Database
  readonly sync: Replication
  readonly requests: () => number
}

/** Handles that share a lease as the tabs of an origin do, by Web Locks and BroadcastChannel, which Node has too. */
function origin(): { tab: () => Promise<Tab>; server: Promise<Database>; close: () => Promise<void> } {
  const shared = memory()
  const storage = Object.assign(Object.create(shared) as typeof shared, { scope: 'origin' as const })
  const server = open('there', { storage: memory() })
  const opened: Database[] = []
  return {
    server,
    tab: async () => {
      let requests = 0
      const fetch = couchFetch(await server, { intercept: () => void requests++ })
      const db = await open('tabs', { storage })
      opened.push(db)
      const options = { collections: NAMES, live: true, checkpointIntervalMs: 5, fetch, connectionsMax: 5 }
      const sync = db.sync(URL_THERE, options)
      sync.then(
        () => {},
        () => {},
      )
      return { db, sync, requests: () => requests }
    },
    close: async () => {
      for (const db of opened) await db.close()
      await (await server).close()
    },
  }
}

async function count(db: Database): Promise<number> {
  const infos = await Promise.all(NAMES.map((name) => db.collection(name).info()))
  return infos.reduce((sum, { documents }) => sum + documents, 0)
}

async function write(db: Database, _id: string): Promise<void> {
  for (const name of NAMES) await db.collection(name).insert({ _id })
}

test('20 collections in 10 tabs: one tab sends requests, and all have everything', async () => {
  const { tab, server, close } = origin()
  const tabs = await Promise.all(Array.from({ length: 10 }, tab))
  await write(tabs[3]!.db, 'here')
  await eventually(async () => (await count(await server)) === 20)
  // A tab that stands still for seconds is taken for frozen, and then another one leads: in the end one does.
  let written = 0
  await eventually(async () => {
    const before = tabs.map(({ requests }) => requests())
    await write(await server, `there${++written}`)
    for (const { db } of tabs) await eventually(async () => (await count(db)) === 20 + 20 * written)
    return tabs.filter(({ requests }, at) => requests() > before[at]!).length === 1
  })
  await eventually(() => tabs.every(({ sync }) => sync.status === 'paused' && sync.parts.length === 40))
  await eventually(() => new Set(tabs.map(({ sync }) => sync.progress.docsWritten)).size === 1)
  await close()
})

test('another tab continues when the one that replicates is closed, pauses or is cancelled', async () => {
  const { tab, server, close } = origin()
  const tabs = [await tab(), await tab(), await tab()] as const
  await eventually(() => tabs[1].sync.status === 'paused' && tabs[0].requests() > 0)
  await tabs[0].db.close()
  await write(tabs[1].db, 'a')
  await eventually(async () => (await count(await server)) === 20)
  const before = tabs[1].requests()
  expect([before > 0, tabs[2].requests()]).toEqual([true, 0])
  tabs[1].sync.pause()
  await write(tabs[1].db, 'b')
  await eventually(async () => (await count(await server)) === 40)
  expect([tabs[1].sync.status, tabs[2].requests() > 0]).toEqual(['paused', true])
  tabs[1].sync.resume()
  tabs[2].sync.cancel()
  await write(tabs[1].db, 'c')
  await eventually(async () => (await count(await server)) === 60)
  expect(tabs[1].requests()).toBeGreaterThan(before)
  expect((await tabs[2].sync).status).toBe('cancelled')
  await close()
})

test('a tab that holds the lock and gives no sign of life loses it', async () => {
  const { tab, server, close } = origin()
  const first = await tab()
  await eventually(() => first.requests() > 0)
  const { held = [] } = await navigator.locks.query()
  const name = held.map((lock) => lock.name).find((one) => one?.includes(':sync:'))!
  // As a frozen tab does: it holds the lock and answers nothing.
  const frozen = navigator.locks.request(name, { steal: true }, () => new Promise(() => {})).catch(() => 'stolen')
  await eventually(() => first.sync.parts.every(({ status }) => status === 'paused'))
  await write(first.db, 'a')
  await eventually(async () => (await count(await server)) === 20)
  expect(await frozen).toBe('stolen')
  await close()
})

test('what the leader meets is shown in the other tabs, with its error', async () => {
  const shared = memory()
  const storage = Object.assign(Object.create(shared) as typeof shared, { scope: 'origin' as const })
  const open2 = [await open('down', { storage }), await open('down', { storage })]
  const fetch = (): Promise<Response> => Promise.reject(new TypeError('no connection'))
  const options = { collections: ['a'], live: true, fetch, backOff: () => 60_000 }
  const [leader, follower] = open2.map((db) => db.sync(URL_THERE, options)) as [Replication, Replication]
  const told: string[] = []
  follower.subscribe((event) => void (event.type === 'status' && told.push(`${event.direction} ${event.status}`)))
  await eventually(() =>
    [follower, leader].every(
      ({ parts }) => parts.length === 2 && parts.every(({ status }) => status === 'backing-off'),
    ),
  )
  expect(follower.error).toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  expect(follower.parts.map(({ error }) => error?.message)).toEqual(leader.parts.map(({ error }) => error?.message))
  expect(told).toContain('push backing-off')
  for (const db of open2) await db.close()
})

test('several replications that write one replication checkpoint show no error, and everything arrives', async () => {
  const [here, there] = [await open('here', { storage: memory() }), await open('there', { storage: memory() })]
  const shown: string[] = []
  const fetch = couchFetch(there)
  const syncs = Array.from({ length: 4 }, () =>
    here.sync(URL_THERE, { collections: ['docs'], live: true, checkpointIntervalMs: 1, fetch }),
  )
  for (const sync of syncs)
    sync.subscribe((event) => {
      if (event.type === 'status' && event.error !== undefined) shown.push(event.error.message)
    })
  for (let n = 0; n < 60; n++) {
    await here.collection('docs').insert({ _id: `h${n}` })
    await there.collection('docs').insert({ _id: `t${n}` })
    if (n % 10 === 0) await eventually(() => syncs.every(({ status }) => status === 'paused'))
  }
  for (const db of [here, there]) await eventually(async () => (await db.collection('docs').info()).documents === 120)
  await eventually(() => syncs.every(({ status }) => status === 'paused'))
  expect(shown).toEqual([])
  const once = await Promise.all(
    Array.from({ length: 12 }, () => here.collection('docs').sync(`${URL_THERE}docs`, { fetch })),
  )
  expect(once.every(({ ok }) => ok)).toBe(true)
  for (const db of [here, there]) await db.close()
})

for (const direction of ['to', 'from'] as const) {
  for (const sessions of [0, 1]) {
    const when = sessions === 0 ? 'before its first checkpoint' : 'between two checkpoints'
    test(`a replication ${direction} a server continues without an error when another tab records ${when}`, async () => {
      const [here, there] = [await open('here', { storage: memory() }), await open('there', { storage: memory() })]
      const source = (direction === 'to' ? here : there).collection('docs')
      await source.insert({ _id: 'a' })
      let others = 0
      const intercept = async (path: string, { method, body }: RequestInit): Promise<undefined> => {
        const { history = [] } = (typeof body === 'string' ? JSON.parse(body) : {}) as { history?: Session[] }
        if (!path.startsWith('_local') || method !== 'PUT' || history.length !== sessions + 1 || others++ > 0) return
        for (const db of [here, there]) await recordByOthers(db, path.slice('_local/'.length), history[0]!)
      }
      const fetch = couchFetch(there, { intercept })
      const options = { fetch, live: true, checkpointIntervalMs: 1, backOff: () => 60_000 }
      const url = `${URL_THERE}docs`
      const side = direction === 'to' ? { to: url } : { from: url }
      const replication = here.collection('docs').replicate({ ...side, ...options })
      const shown: unknown[] = []
      let recorded = 0
      replication.subscribe((event) => {
        if (event.type === 'status' && event.error !== undefined) shown.push(event.error.message)
        if (event.type === 'checkpoint') recorded++
      })
      if (sessions > 0) await eventually(() => recorded > 0)
      if (sessions > 0) await source.insert({ _id: 'b' })
      await eventually(() => others > 0)
      recorded = 0
      await source.insert({ _id: 'c' })
      const haveAll = async (): Promise<boolean> => {
        const infos = await Promise.all([here, there].map((db) => db.collection('docs').info()))
        return infos.every(({ documents }) => documents === 2 + sessions)
      }
      // What was recorded may have been of before the last document.
      await eventually(
        async () => shown.length > 0 || (recorded > 0 && replication.status === 'paused' && (await haveAll())),
      )
      expect(shown).toEqual([])
      replication.cancel()
      await replication
      for (const db of [here, there]) await db.close()
    })
  }
}

interface Session {
  readonly session_id: string
  readonly recorded_seq: unknown
}

/** As many sessions of another tab as a replication checkpoint has, at the same place. */
async function recordByOthers(db: Database, name: string, { recorded_seq }: Session): Promise<void> {
  const { local } = db.collection('docs')
  const others = Array.from({ length: 5 }, (_, n) => ({ session_id: `other${n}`, recorded_seq }))
  await local.put({ ...(await local.get(name)), _id: name, history: others })
}
