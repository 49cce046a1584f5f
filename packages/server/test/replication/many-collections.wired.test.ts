/**
 * Many live collections over as few connections as a browser has for a server over HTTP/1.1: six, which the app needs as well. With our own
 * server, and with one that lets each database be waited for by itself, as CouchDB does.
 */
import { open } from 'pannier'
import type { Database } from 'pannier'
import type { FetchFunction } from 'pannier/types'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN, basic, inTime, send, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const BROWSER_CONNECTIONS = 6

const clock = virtualEnvironment()
let running: TestServer

beforeAll(async () => {
  running = await startServer({ environment: clock })
  await send(running.url, 'PUT /_users/org.couchdb.user:ann', {
    name: 'ann',
    password: 'a-long-password',
    roles: [],
    type: 'user',
  })
})

afterAll(() => running.close())

interface Browser {
  readonly fetch: FetchFunction
  /** Requests that were under way or waited for a connection at the same time. */
  readonly most: () => number
}

/** A request keeps its connection until its answer was read to the end or given up. */
function browser(isCouch: boolean): Browser {
  let free = BROWSER_CONNECTIONS
  let busy = 0
  let most = 0
  const queue: (() => void)[] = []
  const enter = async (signal: AbortSignal | null | undefined): Promise<() => void> => {
    most = Math.max(most, ++busy)
    if (free > 0) free--
    else
      await new Promise<void>((resolve, reject) => {
        queue.push(resolve)
        signal?.addEventListener('abort', () => {
          const at = queue.indexOf(resolve)
          if (at < 0) return
          queue.splice(at, 1)
          busy--
          reject(new DOMException('aborted', 'AbortError'))
        })
      })
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      busy--
      const next = queue.shift()
      if (next === undefined) free++
      else next()
    }
  }
  const fetchThere: FetchFunction = async (url, init) => {
    const leave = await enter(init.signal)
    init.signal?.addEventListener('abort', leave)
    try {
      const response = await fetch(url, init)
      if (isCouch && new URL(url).pathname === '/') {
        const root = (await response.json()) as object
        leave()
        return Response.json({ ...root, features: [] })
      }
      if (response.body === null) {
        leave()
        return response
      }
      const reader = response.body.getReader()
      const body = new ReadableStream({
        async pull(controller) {
          try {
            const { done, value } = await reader.read()
            if (!done) return controller.enqueue(value)
            leave()
            controller.close()
          } catch (error) {
            leave()
            throw error
          }
        },
        async cancel(reason) {
          leave()
          await reader.cancel(reason)
        },
      })
      return new Response(body, { status: response.status, headers: response.headers })
    } catch (error) {
      leave()
      throw error
    }
  }
  return { fetch: fetchThere, most: () => most }
}

async function count(db: Database, names: readonly string[]): Promise<number> {
  const infos = await Promise.all(names.map((name) => db.collection(name).info()))
  return infos.reduce((sum, { documents }) => sum + documents, 0)
}

async function there(names: readonly string[]): Promise<number> {
  const infos = await Promise.all(names.map((name) => send(running.url, `GET /${name}`)))
  return infos.reduce((sum, { json }) => sum + ((json['doc_count'] as number | undefined) ?? 0), 0)
}

for (const server of ['Pannier', 'CouchDB']) {
  test(`20 live collections with ${server}: all are in step, and the app gets a connection`, async () => {
    const { fetch: fetchThere, most } = browser(server === 'CouchDB')
    const names = Array.from({ length: 20 }, (_, n) => `${server.toLowerCase()}${n}`)
    const db = await open('many', { storage: memory(), environment: clock })
    for (const name of names) await db.collection(name).insert({ _id: 'here' })
    const sync = db.sync(running.adminUrl, { collections: names, live: true, fetch: fetchThere, connectionsMax: 5 })
    await clock.until(async () => (await there(names)) === 20)
    for (const name of names) await send(running.url, `PUT /${name}/there`, {})
    await clock.until(async () => (await count(db, names)) === 40)
    await (await fetchThere(running.url, {})).text()
    for (const name of names) await db.collection(name).insert({ _id: 'later' })
    await clock.until(async () => (await there(names)) === 60)
    expect([most() <= BROWSER_CONNECTIONS, sync.error]).toEqual([true, undefined])
    sync.cancel()
    await sync
    await db.close()
  })
}

test('a member who is shut out of one database hears of it there, and of changes elsewhere', async () => {
  for (const name of ['mine', 'ours']) {
    await send(running.url, `PUT /${name}`)
    await send(running.url, `PUT /${name}/_security`, { members: { names: ['ann'] } })
  }
  const db = await open('member', { storage: memory(), environment: clock })
  const options = { live: true, auth: { username: 'ann', password: 'a-long-password' } }
  const mine = db.collection('mine').replicate({ from: `${running.url}/mine`, ...options })
  const ours = db.collection('ours').replicate({ from: `${running.url}/ours`, ...options })
  await clock.until(() => mine.status === 'paused' && ours.status === 'paused')
  await send(running.url, 'PUT /ours/_security', { members: { names: ['bob'] } })
  await expect(inTime(clock, ours)).rejects.toMatchObject({ code: 'PANNIER_PEER_REFUSED', details: { status: 403 } })
  await send(running.url, 'PUT /mine/a', {})
  await clock.until(async () => (await db.collection('mine').get('a')) !== undefined)
  mine.cancel()
  await mine
  await db.close()
})

test('/_pannier/wait tells at once what has changed, what is not there and what may not be read, and no more', async () => {
  await send(running.url, 'PUT /quiet')
  await send(running.url, 'PUT /busy')
  await send(running.url, 'PUT /busy/a', {})
  const { json } = await send(running.url, 'GET /quiet')
  const quiet = { name: 'quiet', since: json['update_seq'] }
  const ask = async (databases: unknown, headers = { authorization: ADMIN }): Promise<unknown> =>
    (await inTime(clock, send(running.url, 'POST /_pannier/wait?timeout=50', { databases }, headers))).json
  expect(await ask([quiet, { name: 'busy' }, { name: 'absent' }])).toEqual({ changed: ['busy', 'absent'] })
  expect(await ask([quiet])).toEqual({ changed: [] })
  const ann = { authorization: basic('ann:a-long-password') }
  expect(await ask([quiet, { name: 'absent' }], ann)).toEqual({ changed: ['quiet', 'absent'] })
  expect(await ask([{ name: 'quiet', since: '5-other' }])).toEqual({ changed: ['quiet'] })
  for (const wrong of [undefined, [], [{}], [{ name: 1 }], 'quiet'])
    expect(await ask(wrong)).toMatchObject({ error: 'bad_request' })
})

test('/_pannier/wait shows that it is there, and answers when a database changes or is dropped', async () => {
  for (const [name, change] of [
    ['waited1', 'PUT /waited1/a'],
    ['waited2', 'DELETE /waited2'],
  ] as const) {
    await send(running.url, `PUT /${name}`)
    const { json } = await send(running.url, `GET /${name}`)
    const databases = [{ name, since: json['update_seq'] }]
    const answer = send(running.url, 'POST /_pannier/wait?heartbeat=true', { databases })
    await clock.idle()
    expect((await send(running.url, 'GET /metrics')).text).toContain('feed="wait"} 1')
    await send(running.url, change, change.startsWith('PUT') ? {} : undefined)
    expect((await answer).json).toEqual({ changed: [name] })
  }
  await clock.idle()
  expect((await send(running.url, 'GET /metrics')).text).toContain('feed="wait"} 0')
})

test('/_pannier/wait does not end with a change of another database', async () => {
  await send(running.url, 'PUT /awaited')
  await send(running.url, 'PUT /elsewhere')
  const { json } = await send(running.url, 'GET /awaited')
  const databases = [{ name: 'awaited', since: json['update_seq'] }]
  const answer = send(running.url, 'POST /_pannier/wait?timeout=60000', { databases })
  await clock.idle()
  await send(running.url, 'PUT /elsewhere/a', {})
  await clock.idle()
  await send(running.url, 'PUT /awaited/a', {})
  expect((await answer).json).toEqual({ changed: ['awaited'] })
})

test('a first sync with a database that is there is answered without a 404, which browsers would show', async () => {
  await send(running.url, 'PUT /silent')
  await send(running.url, 'PUT /silent/a', {})
  const db = await open('silent', { storage: memory(), environment: clock })
  const refused: string[] = []
  await db.collection('silent').sync(`${running.adminUrl}/silent`, {
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      if (!response.ok) refused.push(`${response.status} ${url}`)
      return response
    },
  })
  expect([refused, await db.collection('silent').get('a')]).toMatchObject([[], { _id: 'a' }])
  expect((await db.collection('silent').replicate({ from: `${running.adminUrl}/silent` })).changesChecked).toBe(0)
  await db.close()
})
