/** A database of a server that is dropped and made again, as a synced collection that nobody writes to learns of it. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { ADMIN, inTime, startServer, send } from '../test-server.ts'

const clock = virtualEnvironment()

test('an idle live sync notices that the database was made again, and fills it again', async () => {
  const server = await startServer({ environment: clock })
  const db = await open('here', { storage: memory(), environment: clock })
  try {
    const people = db.collection('people')
    await people.insert(['ann', 'bob'].map((_id) => ({ _id })))
    // Where there is no database at all a replication fails: its requests wait until there is one again.
    let remade = Promise.resolve()
    const sync = people.sync(`${server.adminUrl}/people`, {
      live: true,
      fetch: async (url, init) => {
        await remade
        return fetch(url, init)
      },
    })
    const recorded = new Set<string>()
    sync.subscribe((event) => void (event.type === 'checkpoint' && recorded.add(event.direction)))
    await clock.until(() => recorded.size === 2 && sync.status === 'paused')
    const { promise, resolve } = Promise.withResolvers<void>()
    remade = promise
    for (const method of ['DELETE', 'PUT'])
      await fetch(`${server.url}/people`, { method, headers: { authorization: ADMIN } })
    resolve()
    await clock.until(async () => (await send(server.url, 'GET /people')).json['doc_count'] === 2)
    await clock.until(() => sync.status === 'paused')
    await people.insert({ _id: 'cy' })
    await clock.until(async () => (await send(server.url, 'GET /people/cy')).status === 200)
    sync.cancel()
    await sync
  } finally {
    await db.close()
    await server.close()
  }
})

test('a first push sends everything again if its target is created again before the first replication checkpoint', async () => {
  const server = await startServer({ environment: clock })
  const db = await open('here', { storage: memory(), environment: clock })
  try {
    const people = db.collection('people')
    await people.insert(Array.from({ length: 60 }, (_, n) => ({ _id: `p${n}` })))
    await send(server.url, 'PUT /people')
    const remake = async (): Promise<void> => {
      for (const method of ['DELETE', 'PUT'])
        await fetch(`${server.url}/people`, { method, headers: { authorization: ADMIN } })
    }
    const countThere = async (): Promise<unknown> => (await send(server.url, 'GET /people')).json['doc_count']
    for (const path of ['_revs_diff', '_bulk_docs']) {
      for (const request of [1, 2, 3, 6]) {
        await remake()
        let requests = 0
        // One after the other: none may meet the moment in which there is no database.
        let turn: Promise<unknown> = Promise.resolve()
        const push = people.replicate({
          to: `${server.adminUrl}/people`,
          batchSize: 10,
          fetch: (url, init) => {
            const answer = turn.then(async () => {
              if (String(url).includes(path) && ++requests === request) await remake()
              return fetch(url, init)
            })
            turn = answer.catch(() => {})
            return answer
          },
        })
        const result = await inTime(clock, push)
        expect([path, request, result.ok, await countThere()]).toEqual([path, request, true, 60])
      }
    }
  } finally {
    await db.close()
    await server.close()
  }
})

test('a longpoll from a sequence number of another life of the database is answered at once', async () => {
  const server = await startServer({ environment: clock })
  await send(server.url, 'PUT /people')
  const { json, status } = await send(server.url, 'GET /people/_changes?feed=longpoll&heartbeat=60000&since=7-another')
  expect([status, json]).toEqual([200, { results: [], last_seq: expect.stringMatching(/^0-/), pending: 0 }])
  await server.close()
})

test('each start of a server has a name of its own, by which replications see that it was started again', async () => {
  const server = await startServer({ environment: clock })
  const nameOf = async (request: string): Promise<string | null> =>
    (await send(server.url, request)).headers.get('pannier-instance')
  const [name, again, ofError] = [await nameOf('GET /'), await nameOf('PUT /people'), await nameOf('GET /nobody')]
  expect([again, ofError]).toEqual([name, name])
  const other = await startServer({ environment: clock })
  expect((await send(other.url, 'GET /')).headers.get('pannier-instance')).not.toBe(name)
  await other.close()
  await server.close()
})
