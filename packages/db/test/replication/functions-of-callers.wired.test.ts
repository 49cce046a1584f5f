/**
 * Goal: a replication believes nothing that a function of the caller returns, and takes no function for another one. Each option that is a
 * function stands in a table with what it may and may not give.
 */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { open, type Database, type JsonObject } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { couchFetch } from '../../testing/couch-fetch.ts'
import type { FetchFunction } from '../../src/replication/http/http-client.ts'
import type { ReplicationOptions } from '../../src/database/replication/replication-options.ts'

async function fresh(): Promise<{ db: Database; fetch: FetchFunction; ids: (name: string) => Promise<string[]> }> {
  const db = await open('x', { storage: memory() })
  onTestFinished(() => db.close())
  await db.collection('a').insert([
    { _id: 'a1', owner: 'ann' },
    { _id: 'b1', owner: 'bob' },
  ])
  const ids = async (name: string): Promise<string[]> =>
    (await db.collection(name).list().toArray()).map(({ id }) => id)
  return { db, fetch: couchFetch(db), ids }
}

const OWNERS = ['ann', 'bob'] as const
const of = (owner: string) => (document: JsonObject) => document['owner'] === owner
function ownedByThis(this: string, document: JsonObject): boolean {
  return document['owner'] === this
}
const byParameters = (document: JsonObject, parameters: ReplicationOptions['parameters']): boolean =>
  document['owner'] === parameters?.['owner']

describe('a filter function is itself, and no other with its text', () => {
  const FACTORIES: Readonly<Record<string, (owner: string) => Partial<ReplicationOptions>>> = {
    'captured values': (owner) => ({ filter: of(owner) }),
    'bound functions': (owner) => ({ filter: ownedByThis.bind(owner) }),
    parameters: (owner) => ({ filter: byParameters, parameters: { owner } }),
    versions: (owner) => ({ filter: of(owner), version: owner }),
  }
  for (const [name, make] of Object.entries(FACTORIES))
    for (const way of ['from', 'to', 'from over HTTP', 'to over HTTP'] as const)
      test(`${name}, ${way}`, async () => {
        const { db, fetch, ids } = await fresh()
        const overHttp = way.endsWith('HTTP')
        const found = async (): Promise<string[]> => (await ids('b')).sort()
        for (const [at, owner] of OWNERS.entries()) {
          const options = { ...make(owner), ...(overHttp && { fetch }) }
          const [here, there] = way.startsWith('from') ? ['b', 'a'] : ['a', 'b']
          const other = overHttp ? `https://couch.test/${there}` : db.collection(there)
          const side = way.startsWith('from') ? { from: other } : { to: other }
          const { ok } = await db.collection(here).replicate({ ...side, ...options } as never)
          expect([ok, await found()]).toEqual([true, ['a1', 'b1'].slice(0, at + 1)])
        }
      })

  test('one that data names continues; one without a name leaves no replication checkpoint, and continues within a run', async () => {
    const { db } = await fresh()
    const checked = async (options: Partial<ReplicationOptions>): Promise<number> => {
      const from = db.collection('a')
      return (await db.collection('b').replicate({ from, ...options })).changesChecked
    }
    expect([await checked({ filter: of('ann') }), await checked({ filter: of('ann') })]).toEqual([1, 1])
    expect(await db.collection('b').local.list()).toEqual([])
    expect([
      await checked({ filter: of('ann'), version: 1 }),
      await checked({ filter: of('ann'), version: 1 }),
    ]).toEqual([1, 0])
    const asked: unknown[] = []
    let failures = 2
    const fetch = couchFetch(db, {
      intercept: (path, { method }) => {
        if (path === '_changes' && method === 'GET' && asked.length === 1 && failures-- > 0)
          return new Response('{}', { status: 503 })
        return undefined
      },
    })
    const noting: FetchFunction = async (url, init) => {
      const { pathname, searchParams } = new URL(url)
      const response = await fetch(url, init)
      if (pathname.endsWith('_changes') && response.ok) asked.push(searchParams.get('since'))
      return response
    }
    const filter = (): boolean => true
    const pull = { from: 'https://couch.test/a', fetch: noting, filter, batchSize: 1, batchesAhead: 1, retry: true }
    expect(await db.collection('c').replicate({ ...pull, backOff: () => 0 })).toMatchObject({
      ok: true,
      docsWritten: 2,
    })
    expect(asked.filter((since) => since === '0')).toHaveLength(1)
  })
})

describe('what functions return', () => {
  const never = async (): Promise<never> => Promise.reject(new Error('nobody hears of it'))
  const noNetwork: FetchFunction = async () => Promise.reject(new TypeError('no network'))
  const CASES: readonly (readonly [name: string, options: Record<string, unknown>, message: string])[] = [
    ['a promise of a filter', { filter: async () => false }, 'filter must be synchronous, got a Promise'],
    ['a promise of a filter that fails', { filter: never }, 'filter must be synchronous, got a Promise'],
    // oxlint-disable-next-line unicorn/no-thenable
    ['a thenable of a filter', { filter: () => ({ then() {} }) }, 'filter must be synchronous, got an object'],
    [
      'no delay',
      { fetch: noNetwork, live: true, backOff: () => {} },
      'backOff must return a number of milliseconds, got undefined',
    ],
    [
      'a promise of a delay',
      { fetch: noNetwork, live: true, backOff: async () => 1 },
      'backOff must be synchronous, got a Promise',
    ],
    [
      'NaN',
      { fetch: noNetwork, live: true, backOff: () => NaN },
      'backOff must return a number of milliseconds, got NaN',
    ],
    [
      'Infinity',
      { fetch: noNetwork, live: true, backOff: () => Infinity },
      'backOff must return a number of milliseconds, got Infinity',
    ],
    [
      'text for a delay',
      { fetch: noNetwork, live: true, backOff: () => '100' },
      "backOff must return a number of milliseconds, got '100'",
    ],
    [
      'a promise of isOnline',
      { live: true, network: { isOnline: async () => false, subscribe: () => () => {} } },
      'network.isOnline must be synchronous, got a Promise',
    ],
    [
      'no end of subscribe',
      { live: true, network: { isOnline: () => true, subscribe: () => {} } },
      'network.subscribe must return a function, got undefined',
    ],
    [
      'no headers',
      { live: true, headers: () => undefined },
      'headers must be an object of strings, a Headers object, or pairs of strings, got undefined',
    ],
    [
      'a promise of a number',
      { headers: async () => 5 },
      'headers must be an object of strings, a Headers object, or pairs of strings, got 5',
    ],
    [
      'headers that are no strings',
      { headers: { authorization: undefined } },
      'headers must be an object of strings, a Headers object, or pairs of strings, got an object',
    ],
    ['no response', { fetch: async () => undefined }, 'fetch must return a promise of a Response, got undefined'],
    ['no promise of a response', { fetch: () => ({}) }, 'fetch must return a promise of a Response, got an object'],
  ]
  test.each(CASES)('%s is refused', async (_, options, message) => {
    const { db, fetch, ids } = await fresh()
    const pull = db.collection('b').replicate({ from: 'https://couch.test/a', fetch, ...options } as never)
    await expect(Promise.resolve(pull)).rejects.toThrow(new TypeError(`sync() or replicate(): ${message}`))
    expect([pull.status, await ids('b')]).toEqual(['failed', []])
  })

  const TOKEN = 'Bearer one'
  const FORMS: Readonly<Record<string, unknown>> = {
    object: { Authorization: TOKEN },
    Headers: new Headers({ authorization: TOKEN }),
    pairs: [['authorization', TOKEN]],
    Map: new Map([['Authorization', TOKEN]]),
  }
  for (const [name, form] of Object.entries(FORMS))
    for (const headers of [form, () => form, async () => form])
      test(`headers: ${typeof headers === 'function' ? `${headers.constructor.name} of ` : ''}${name}`, async () => {
        const { db, fetch, ids } = await fresh()
        const sent = new Set<string | null>()
        const noting: FetchFunction = async (url, init) => {
          sent.add(new Headers(init.headers).get('authorization'))
          return fetch(url, init)
        }
        const sync = db.collection('b').sync('https://couch.test/a', { fetch: noting, headers: headers as never })
        expect((await sync).ok).toBe(true)
        expect([[...sent], await ids('b')]).toEqual([[TOKEN], ['a1', 'b1']])
      })

  test.each(['throws', 'rejects'])(
    'headers that %s: the caller gets the error as it is; live, the sync waits and tries again',
    async (how) => {
      const { db, fetch, ids } = await fresh()
      let failing = true
      const noToken = new Error('no token yet')
      const headers = (): Record<string, string> => {
        if (failing) throw noToken
        return {}
      }
      const given = how === 'throws' ? headers : async () => headers()
      const options = { fetch, headers: given }
      const once = db.collection('b').replicate({ from: 'https://couch.test/a', ...options })
      expect(await Promise.resolve(once).catch((error: unknown) => error)).toBe(noToken)
      const said: string[] = []
      const live = db
        .collection('b')
        .replicate({ from: 'https://couch.test/a', ...options, live: true, backOff: () => 0 })
      const isThere = new Promise<void>((resolve) => {
        live.subscribe((event) => {
          if (event.type !== 'status') return
          if (event.status === 'backing-off') said.push(event.error!.message)
          failing = false
          if (event.status === 'paused') resolve()
        })
      })
      await isThere
      live.cancel()
      await live
      expect([said, await ids('b')]).toEqual([
        ['https://couch.test/a: the function `headers` failed: no token yet.'],
        ['a1', 'b1'],
      ])
    },
  )

  test('a listener that throws changes nothing', async () => {
    const { db, ids } = await fresh()
    // It becomes an uncaught error.
    const uncaught = vi.spyOn(Promise, 'reject').mockReturnValue(new Promise(() => {}))
    onTestFinished(() => uncaught.mockRestore())
    const pull = db.collection('b').replicate({ from: db.collection('a') })
    const heard: string[] = []
    pull.subscribe(() => {
      throw new Error('listener')
    })
    pull.subscribe(({ type }) => heard.push(type))
    expect((await pull).ok).toBe(true)
    expect(uncaught).toHaveBeenCalledWith(new Error('listener'))
    expect(heard).toContain('change')
    expect(await ids('b')).toEqual(['a1', 'b1'])
  })

  test('delays have a floor', async () => {
    const { db } = await fresh()
    let asked = 0
    const fetch: FetchFunction = async () => {
      asked++
      throw new TypeError('no network')
    }
    const waits: number[] = []
    const sync = db.collection('a').replicate({ to: 'https://couch.test/b', live: true, fetch, backOff: () => 0 })
    const stopped = new Promise<void>((resolve) => {
      sync.subscribe((event) => {
        if (event.type !== 'status' || event.waitMs === undefined) return
        waits.push(event.waitMs)
        resolve()
      })
    })
    await stopped
    sync.cancel()
    await sync
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(100)
    expect(asked).toBeLessThan(5)
  })
})

describe('deletions', () => {
  for (const way of ['between collections', 'over HTTP'])
    test(`a selector lets them through, ${way}; tombstones: 'selected' does not`, async () => {
      const { db, fetch, ids } = await fresh()
      const from = way === 'over HTTP' ? 'https://couch.test/a' : db.collection('a')
      const pull = async (name: string, options: Partial<ReplicationOptions> = {}): Promise<string[]> => {
        await db.collection(name).replicate({ from, fetch, selector: { owner: 'ann' }, ...options } as never)
        return ids(name)
      }
      expect([await pull('b'), await pull('c', { tombstones: 'selected' })]).toEqual([['a1'], ['a1']])
      await db.collection('a').delete('a1')
      expect([await pull('b'), await pull('c', { tombstones: 'selected' })]).toEqual([[], ['a1']])
    })
})

test('a replication is a promise with catch and finally', async () => {
  const { db } = await fresh()
  const calls: string[] = []
  const good = await db
    .collection('b')
    .replicate({ from: db.collection('a') })
    .catch(() => calls.push('caught'))
    .finally(() => calls.push('finally'))
  expect(good).toMatchObject({ ok: true })
  const bad = db.collection('b').replicate({ from: db.collection('a'), filter: async () => true })
  expect(await bad.catch((error: unknown) => (error as Error).name)).toBe('TypeError')
  await expect(bad.finally(() => calls.push('again'))).rejects.toThrow(TypeError)
  expect(calls).toEqual(['finally', 'again'])
})

for (const broken of ['is always cut off', 'always answers 500'])
  test(`a one-shot pull ends without the one document whose attachment ${broken}`, async () => {
    const { db, ids } = await fresh()
    const big = new Uint8Array(100_000)
    await db.collection('a').insert(['x', 'y', 'z'].map((_id) => ({ _id, _attachments: { f: { data: big } } })))
    const fetch = couchFetch(db, {
      intercept: (path) => {
        if (path !== 'y/f') return undefined
        return broken.endsWith('500') ? new Response('{}', { status: 500 }) : new Response(big.subarray(1))
      },
    })
    const pull = await db.collection('b').replicate({ from: 'https://couch.test/a', fetch, snapshot: false })
    expect(pull).toMatchObject({ ok: false, status: 'complete', docsDenied: 1 })
    expect(await ids('b')).toEqual(['a1', 'b1', 'x', 'z'])
  })
