/**
 * Goal: all databases of two servers move to another PostgreSQL while clients write to both, and no client notices. Every write is
 * acknowledged once, and a feed that is open continues.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { postgres } from '@pannier/postgres'
import { timeoutOf, times } from '../../../tools/test/seeds.ts'
import { onPostgres } from '../../postgres/test/on-postgres.ts'
import { moved, several } from '../../postgres/test/on-several.ts'
import { createServer } from '../src/index.ts'
import { ADMIN, ADMIN_NAME, ADMIN_PASSWORD, send } from './test-server.ts'

const DATABASES = ['app', 'app logs', 'app fleet']

onPostgres((get) => {
  test('databases move under servers that are in use', { timeout: timeoutOf(120_000) }, async () => {
    const urls = several(get(), 2)
    const start = async (): Promise<{ url: string; close(): Promise<void> }> => {
      const storage = { storage: postgres(urls) }
      const server = await createServer({ storage, logger: false, couchAdmin: `${ADMIN_NAME}:${ADMIN_PASSWORD}` })
      return { url: await server.listen({ port: 0 }), close: () => server.close() }
    }
    const servers = [await start(), await start()]
    const [first, second] = [servers[0]!, servers[1]!]
    expect((await send(first.url, 'PUT /db')).status).toBe(201)
    const followed: string[] = []
    const ending = new AbortController()
    const feed = await fetch(`${second.url}/db/_changes?feed=continuous&heartbeat=500`, {
      headers: { authorization: ADMIN },
      signal: ending.signal,
    })
    const following = (async () => {
      let rest = ''
      for await (const piece of feed.body!.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + piece).split('\n')
        rest = lines.pop()!
        for (const line of lines) if (line !== '') followed.push((JSON.parse(line) as { id: string }).id)
      }
    })().catch(() => {})
    const acknowledged: string[] = []
    let isOver = false
    const writing = servers.map(async ({ url }, server) => {
      for (let n = 0; !isOver; n++) {
        const id = `s${server}-${n}`
        const answer = await send(url, `PUT /db/${id}`, { n })
        expect([id, answer.status, answer.text]).toEqual([id, 201, answer.text])
        acknowledged.push(id)
        await sleep(5)
      }
    })
    const storage = postgres(urls)
    for (let round = 0; round < times(2); round++)
      for (const name of DATABASES) {
        const now = (await storage.placeOf(name))!
        const to = urls.find((url) => !url.endsWith(now))!
        await moved(() => storage.move(name, to))
        const before = acknowledged.length
        await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 4)
      }
    isOver = true
    await Promise.all(writing)
    await expect.poll(() => followed.length).toBe(acknowledged.length)
    expect([...followed].sort()).toEqual([...acknowledged].sort())
    for (const { url } of servers) {
      expect((await send(url, 'GET /db')).json['doc_count']).toBe(acknowledged.length)
      expect((await send(url, 'GET /_up')).status).toBe(200)
    }
    ending.abort()
    await following
    for (const server of servers) await server.close()
  })
})
