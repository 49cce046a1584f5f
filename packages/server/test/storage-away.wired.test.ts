/** Goal: while the storage is away a server says so at both doors, with words and a time to try again, and hides what hosts it has. */
import { expect, test } from 'vitest'
import { PannierError } from 'pannier'
import type { DatabaseStorage, PageStore } from 'pannier/storage'
import { virtualEnvironment } from 'pannier/testing'
import { memory } from '../../db/src/memory.ts'
import { createServer } from '../src/index.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, send } from './test-server.ts'

const SECRET = 'db7.internal'

/** Memory, until it is away. */
function leavingStorage(): DatabaseStorage & { isAway: boolean } {
  const storage = memory()
  const stores = (store: PageStore): PageStore =>
    new Proxy(store, {
      get(target, name: keyof PageStore) {
        if (leaving.isAway && name !== 'close')
          return () =>
            Promise.reject(new PannierError('PANNIER_IO_FAILED', `PostgreSQL at ${SECRET} could not be read.`))
        const value: unknown = target[name]
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  const leaving = {
    isAway: false,
    kind: storage.kind,
    scope: storage.scope,
    identify: (name: string) => storage.identify(name),
    destroy: (name: string) => storage.destroy(name),
    has: async (name: string) => {
      if (leaving.isAway) throw new PannierError('PANNIER_IO_FAILED', `PostgreSQL at ${SECRET} could not be read.`)
      return storage.has(name)
    },
    open: async (name: string) => stores(await storage.open(name)),
  }
  return leaving
}

test('what needs the storage is a 503 that says when to try again, and readiness says so too', async () => {
  const storage = leavingStorage()
  const couchAdmin = `${ADMIN_NAME}:${ADMIN_PASSWORD}`
  const clock = virtualEnvironment()
  const server = await createServer({ storage: { storage }, logger: false, couchAdmin, environment: clock })
  const url = await server.listen({ port: 0 })
  try {
    await send(url, 'PUT /db')
    expect((await send(url, 'PUT /db/a', { n: 1 })).status).toBe(201)
    storage.isAway = true
    const couch = await send(url, 'PUT /db/b', { n: 1 })
    expect(couch.json).toEqual({
      error: 'service_unavailable',
      reason: "The storage can't be reached. Nothing was written.",
    })
    const rest = await send(
      url,
      'POST /api/collections/users/records',
      { email: 'a@example.org' },
      { authorization: '' },
    )
    expect(rest.json).toMatchObject({ message: "The storage can't be reached. Nothing was written." })
    for (const { status, headers, text } of [couch, rest]) {
      expect([status, headers.get('retry-after')]).toEqual([503, '5'])
      expect(text).not.toContain(SECRET)
    }
    // What is in memory is answered all the same.
    expect((await send(url, 'GET /db/a')).json).toMatchObject({ n: 1 })
    await clock.advance(1001)
    expect((await send(url, 'GET /_up')).status).toBe(503)
    expect((await send(url, 'GET /api/health')).json).toMatchObject({ message: 'The storage can not be reached.' })
    storage.isAway = false
    expect((await send(url, 'PUT /db/b', { n: 2 })).status).toBe(201)
    expect((await send(url, 'GET /_up')).status).toBe(503)
    await clock.advance(1001)
    expect((await send(url, 'GET /_up')).status).toBe(200)
  } finally {
    storage.isAway = false
    await server.close()
  }
})
