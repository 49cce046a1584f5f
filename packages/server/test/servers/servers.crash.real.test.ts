/**
 * Goal: several servers on one PostgreSQL are one server to their clients, whichever of them a request comes to.
 * Method: servers in processes of their own; PocketBase's client and PouchDB, unchanged, behind a balancer without sticky sessions.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import type PocketBase from 'pocketbase'
import { PouchDB } from '../../testing/pouch.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from 'pannier'
import { postgres } from '@pannier/postgres'
import { onPostgres } from '../../../postgres/test/on-postgres.ts'
import { timeoutOf, times } from '../../../../tools/test/seeds.ts'
import { Balancer } from '../../../../tools/balancer.ts'
import { basic, until } from '../test-server.ts'
import { EMAIL, failure, PASSWORD, sdkClient } from '../rest/rest-server.ts'
import { Serving } from './serving.ts'

const ROOT = { authorization: basic(`${EMAIL}:${PASSWORD}`), 'content-type': 'application/json' }

onPostgres((get) => {
  let servers: Serving[]
  let balancer: Balancer
  let clients: PocketBase[]

  /** A client that reads what any of them has written: it sends the sequence back that it was given. */
  let seen = 0
  const reading = (url: string): PocketBase => {
    const client = sdkClient(url)
    client.beforeSend = (to, options) => ({
      url: to,
      options: { ...options, headers: { ...options.headers, 'pannier-sequence': String(seen) } },
    })
    client.afterSend = ({ headers }, data) => {
      seen = Math.max(seen, Number(headers.get('pannier-sequence') ?? 0))
      return data as unknown
    }
    return client
  }

  beforeAll(async () => {
    globalThis.EventSource ??= EventSource as unknown as typeof globalThis.EventSource
    // They start at the same time.
    servers = await Promise.all([1, 2, 3].map(() => Serving.start(get().url)))
    balancer = await Balancer.start(servers.map(({ port }) => port))
    clients = servers.map(({ url }) => reading(url))
    await clients[0]!.collection('_superusers').authWithPassword(EMAIL, PASSWORD)
    // The tokens of one server are good at all.
    for (const client of clients.slice(1))
      client.authStore.save(clients[0]!.authStore.token, clients[0]!.authStore.record)
    const fields = [{ name: 'title', type: 'text' }]
    const rules = { listRule: '', viewRule: '', createRule: '', updateRule: '' }
    await clients[0]!.collections.create({ name: 'posts', type: 'base', fields, ...rules })
  })
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]()
    await balancer[Symbol.asyncDispose]()
  })

  const couch = async (server: number, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(servers[server]!.url + path, {
      method,
      headers: ROOT,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  test('a definition that one server changes is that of all, at once', async () => {
    const [one, two, three] = clients as [PocketBase, PocketBase, PocketBase]
    const fields = (names: readonly string[]) => names.map((name) => ({ name, type: 'text' }))
    await one.collections.create({ name: 'wide', type: 'base', fields: fields(['a']), listRule: '' })
    for (let round = 0; round < 5; round++) {
      const name = `f${round}`
      const known = (await two.collections.getOne('wide')).fields
      await two.collections.update('wide', { fields: [...known, { name, type: 'text' }] })
      const made = await three.collection('wide').create({ [name]: 'x' })
      expect(made[name]).toBe('x')
      expect(await one.collection('wide').getOne(made.id)).toMatchObject({ [name]: 'x' })
    }
    // At the same time at two servers: both happen.
    await Promise.all([
      one.collections.create({ name: 'left', type: 'base', fields: fields(['a']) }),
      two.collections.create({ name: 'right', type: 'base', fields: fields(['a']) }),
    ])
    const names = (await three.collections.getFullList()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['left', 'right']))
    expect(await three.collection('left').create({ a: 'x' })).toMatchObject({ a: 'x' })
  })

  test('settings that two servers change at the same time are both kept', async () => {
    const [one, two, three] = clients as [PocketBase, PocketBase, PocketBase]
    await Promise.all([
      one.settings.update({ meta: { appName: 'Several' } }),
      two.settings.update({ logs: { maxDays: 3 } }),
    ])
    await until(async () => (await three.settings.getAll())['logs'].maxDays === 3)
    expect((await three.settings.getAll())['meta'].appName).toBe('Several')
  })

  test('a session that ends at one server ends at all', async () => {
    const [one, two] = clients as [PocketBase, PocketBase]
    const user = await one
      .collection('users')
      .create({ email: 'ann@example.com', password: '12345678', passwordConfirm: '12345678' })
    const ann = servers.map(({ url }) => reading(url))
    await ann[1]!.collection('users').authWithPassword('ann@example.com', '12345678')
    for (const client of ann) client.authStore.save(ann[1]!.authStore.token, ann[1]!.authStore.record)
    for (const client of ann) expect((await client.collection('users').getOne(user.id)).id).toBe(user.id)
    const path = `/api/collections/users/records/${user.id}/sessions`
    const { items } = await one.send<{ items: { id: string }[] }>(path, { method: 'GET' })
    await two.send(`${path}/${items[0]!.id}`, { method: 'DELETE' })
    for (const client of ann)
      await until(
        async () =>
          await client
            .collection('users')
            .getOne(user.id)
            .then(
              () => false,
              () => true,
            ),
      )
    await failure(ann[2]!.collection('users').authRefresh())
  })

  test('failed logins at one server count at all', async () => {
    const login = (at: number): Promise<{ status: number }> =>
      failure(sdkClient(servers[at]!.url).collection('users').authWithPassword('guessed@example.com', 'wrong pass 1'))
    for (let n = 0; n < 10; n++) expect((await login(0)).status).toBe(400)
    for (const at of servers.keys()) await until(async () => (await login(at)).status === 429)
  })

  test("a cookie of CouchDB's door is good at all servers, and ends at all", async () => {
    await couch(0, 'PUT', '/_users/org.couchdb.user:bob', {
      name: 'bob',
      password: 'apple pie 1',
      roles: [],
      type: 'user',
    })
    const login = await fetch(`${servers[1]!.url}/_session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bob', password: 'apple pie 1' }),
    })
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!
    const nameAt = async (at: number): Promise<unknown> => {
      const answer = await fetch(`${servers[at]!.url}/_session`, { headers: { cookie } })
      return ((await answer.json()) as { userCtx: { name: unknown } }).userCtx.name
    }
    for (const at of servers.keys()) await until(async () => (await nameAt(at)) === 'bob')
    await fetch(`${servers[2]!.url}/_session`, { method: 'DELETE', headers: { cookie } })
    for (const at of servers.keys()) await until(async () => (await nameAt(at)) === null)
  })

  test('a stream at one server has what others commit, and subscribes by any of them', async () => {
    const stream = sdkClient(balancer.url)
    const got: string[] = []
    await stream
      .collection('posts')
      .subscribe('*', ({ action, record }) => void got.push(`${action} ${record['title']}`))
    const wanted: string[] = []
    for (let n = 0; n < 12; n++) {
      const { id } = await clients[n % 3]!.collection('posts').create({ title: `t${n}` })
      wanted.push(`create t${n}`)
      if (n % 3 !== 0) continue
      await clients[(n + 1) % 3]!.collection('posts').update(id, { title: `u${n}` })
      wanted.push(`update u${n}`)
    }
    await until(() => got.length >= wanted.length)
    expect(got).toEqual(wanted)
    await stream.realtime.unsubscribe()
    const unknown = `${servers[1]!.url}/api/realtime`
    const ask = {
      method: 'POST',
      headers: ROOT,
      body: JSON.stringify({ clientId: 'zzzzzzzz'.repeat(5), subscriptions: [] }),
    }
    expect((await fetch(unknown, ask)).status).toBe(404)
  })

  test('longpoll, a continuous feed and a wait for several databases hear of a commit at another server', async () => {
    await couch(0, 'PUT', '/notes')
    await until(async () => (await couch(1, 'GET', '/notes')).ok && (await couch(2, 'GET', '/notes')).ok)
    const { update_seq: since } = (await (await couch(1, 'GET', '/notes')).json()) as { update_seq: string }
    const from = encodeURIComponent(since)
    const longpoll = couch(1, 'GET', `/notes/_changes?feed=longpoll&since=${from}`)
    const waiting = couch(2, 'POST', '/_pannier/wait', { databases: [{ name: 'notes', since }] })
    const continuous = (
      await couch(2, 'GET', `/notes/_changes?feed=continuous&since=${from}&heartbeat=1000`)
    ).body!.getReader()
    await sleep(200)
    await couch(0, 'PUT', '/notes/a', { n: 1 })
    expect(((await (await longpoll).json()) as { results: unknown[] }).results).toMatchObject([{ id: 'a' }])
    expect(await (await waiting).json()).toEqual({ changed: ['notes'] })
    let text = ''
    while (!text.includes('"id":"a"')) text += Buffer.from((await continuous.read()).value!).toString()
    await continuous.cancel()
  })

  test('the clients stay in sync while servers are killed and come back', { timeout: timeoutOf(120_000) }, async () => {
    await couch(0, 'PUT', '/synced')
    const through = reading(balancer.url)
    through.authStore.save(clients[0]!.authStore.token, clients[0]!.authStore.record)
    const seen = new Set<string>()
    await through.collection('posts').subscribe('*', ({ record }) => void seen.add(String(record['title'])))
    const fetchAsRoot: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers)
      headers.set('authorization', ROOT.authorization)
      return fetch(url, { ...init, headers })
    }
    const remote = new PouchDB(`${balancer.url}/synced`, { fetch: fetchAsRoot, skip_setup: true } as object)
    const local = new PouchDB('synced', { adapter: 'memory' })
    const sync = local.sync(remote, { live: true, retry: true, back_off_function: () => 200 } as object)
    const acknowledged: string[] = []
    let made = 0
    const write = async (): Promise<void> => {
      const title = `k${made++}`
      await through
        .collection('posts')
        .create({ title })
        .then(
          () => acknowledged.push(title),
          // A server that was killed has not answered.
          () => {},
        )
      await local.put({ _id: title })
    }
    for (let round = 0; round < times(1); round++) {
      const kill = round % servers.length
      for (let n = 0; n < 5; n++) await write()
      await servers[kill]!.kill()
      for (let n = 0; n < 5; n++) await write()
      servers[kill] = await Serving.start(get().url)
      balancer.ports = servers.map(({ port }) => port)
      clients[kill] = reading(servers[kill]!.url)
      clients[kill]!.authStore.save(clients[0]!.authStore.token, clients[0]!.authStore.record)
    }
    expect(acknowledged.length).toBeGreaterThan(made / 2)
    const stored = (await through.collection('posts').getFullList({ filter: "title ~ 'k%'" })).map(({ title }) =>
      String(title),
    )
    expect(stored).toEqual(expect.arrayContaining(acknowledged))
    expect(new Set(stored).size).toBe(stored.length)
    await until(async () => (await remote.info()).doc_count === made)
    // The client has subscribed again by itself.
    await until(async () => {
      await through.collection('posts').create({ title: 'last' })
      return seen.has('last')
    })
    sync.cancel()
    await through.realtime.unsubscribe()
  })

  test('a server of an older version refuses what a newer one has written, says so, and waits', async () => {
    await using app = await open('app', { storage: postgres(get().url) })
    const state = app.collection<{ version: number }>('$server')
    await state.update('format', (old) => ({ ...old, version: 99 }))
    for (const server of servers) await server.says(/A newer version serves this database/)
    for (const server of servers)
      await server.says(/format 99, and this version knows format 1\. Update it\. This server waits/)
    expect(
      await fetch(`${servers[0]!.url}/_up`).then(
        ({ ok }) => ok,
        () => false,
      ),
    ).toBe(false)
    await using late = new Serving(get().url)
    await late.says(/This server waits/)
    await state.update('format', (old) => ({ ...old, version: 1 }))
    await late.says(/listens at/)
    for (const { url } of servers)
      await until(
        async () =>
          await fetch(`${url}/_up`).then(
            ({ ok }) => ok,
            () => false,
          ),
      )
  })

  test('a server waits while the tables are of a newer version', async () => {
    const { server, url } = get()
    const version = server.sql('pannier_test', 'select version from pannier.version')
    server.sql('pannier_test', 'update pannier.version set version = 99')
    await using late = new Serving(url)
    await late.says(/have version 99, and this program knows version \d+\. Update it\. This server waits/)
    server.sql('pannier_test', `update pannier.version set version = ${version}`)
    await late.says(/listens at/)
  })

  test(
    'servers that find PostgreSQL put back to an earlier state start again by themselves',
    { timeout: 120_000 },
    async () => {
      const { server } = get()
      await couch(0, 'PUT', '/kept')
      await couch(0, 'PUT', '/kept/before', { n: 1 })
      await server.stop()
      const backup = `${server.data}-backup`
      cpSync(server.data, backup, { recursive: true, preserveTimestamps: true })
      await server.begin()
      await until(async () => (await couch(1, 'PUT', '/kept/after', { n: 2 })).status === 201)
      // One that has not seen it misses nothing.
      for (const at of servers.keys()) await until(async () => (await couch(at, 'GET', '/kept/after')).ok)
      await server.stop()
      rmSync(server.data, { recursive: true })
      renameSync(backup, server.data)
      spawnSync('chown', ['-R', '--reference', server.folder, server.data])
      spawnSync('chmod', ['700', server.data])
      await server.begin()
      for (const serving of servers)
        await serving.says(/put back to an earlier state: the server starts again\.[^]*listens at/)
      for (const at of servers.keys()) {
        expect((await couch(at, 'GET', '/kept/after')).status).toBe(404)
        expect((await couch(at, 'GET', '/kept/before')).status).toBe(200)
        expect((await couch(at, 'PUT', `/kept/new${at}`, {})).status).toBe(201)
      }
    },
  )

  test('while PostgreSQL is away a server is not ready, and continues when it is back', async () => {
    const { server } = get()
    const isUp = async (): Promise<boolean> => (await fetch(`${servers[0]!.url}/_up`)).ok
    expect(await isUp()).toBe(true)
    await server.stop()
    await until(async () => !(await isUp()))
    const written = couch(0, 'PUT', '/synced/waits', { n: 1 })
    await server.begin()
    expect((await written).status).toBe(201)
    await until(isUp)
  })
})
