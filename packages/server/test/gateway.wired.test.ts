/**
 * Goal: whatever way documents are read and written, the rules for the principal hold. Guards see the old and the new document inside the
 * transaction; replications pass them too; a guarded collection has no back door. Method: a real server with guards of its own.
 */
import fastifyPlugin from 'fastify-plugin'
import { afterEach, expect, test } from 'vitest'
import { GUEST, ServiceError, SYSTEM } from '../src/index.ts'
import type { GuardedChange, Principal, ServerOptions, WriteGuard } from '../src/index.ts'
import { basic, send, startServer, STRANGER } from './test-server.ts'
import type { Answer, TestServer } from './test-server.ts'

const opened: TestServer[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function start(options: ServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options)
  opened.push(server)
  await send(server.url, 'PUT /db')
  return server
}

async function addUser({ url }: TestServer, name: string): Promise<void> {
  const user = { name, type: 'user', roles: [], password: `password-of-${name}` }
  await send(url, `PUT /_users/org.couchdb.user:${name}`, user)
}

function principal(name: string): Principal {
  return { name, roles: [], isAdmin: false, by: 'session' }
}

const ANN = { authorization: basic('ann:password-of-ann') }

/** Numbers only grow. */
function growing(changes: GuardedChange[] = []): WriteGuard {
  return {
    decide: ({ database }) => {
      if (database !== 'db') return undefined
      return (change) => {
        changes.push(change)
        const [before = 0, n = 0] = [change.old?.['n'], change.document['n']] as number[]
        return n < before ? new ServiceError('FORBIDDEN', `${n} is less than ${before}`) : undefined
      }
    },
  }
}

test('a guard changes and refuses documents, of every way to write', async () => {
  const guard: WriteGuard = {
    prepare: ({ documents }) =>
      documents.map((one) => (one['bad'] === true ? new ServiceError('FORBIDDEN', 'no') : { ...one, seen: true })),
  }
  const { url } = await start({ guards: [guard] })
  expect((await send(url, 'PUT /db/a', { bad: true })).json).toEqual({ error: 'forbidden', reason: 'no' })
  const bulk = await send(url, 'POST /db/_bulk_docs', { docs: [{ _id: 'a', bad: true }, { _id: 'b' }] })
  expect(bulk.json).toMatchObject([
    { id: 'a', error: 'forbidden' },
    { id: 'b', ok: true },
  ])
  expect((await send(url, 'GET /db/b')).json).toMatchObject({ seen: true })
})

test('of writers at the same time the guard of each sees what was written before', async () => {
  const { url } = await start({ guards: [growing()] })
  const put = (rev: string, n: number): Promise<Answer> =>
    send(url, 'POST /db/_bulk_docs', { docs: [{ _id: 'a', _rev: rev, n }], new_edits: false })
  const tries = Array.from({ length: 40 }, (_, at) => put(`1-${String(at).padStart(3, '0')}`, (at * 17) % 40))
  const refused = (await Promise.all(tries)).filter(({ text }) => text.includes('forbidden')).length
  expect(refused).toBeGreaterThan(0)
  const { json } = await send(url, 'GET /db/_changes?style=all_docs')
  const [{ changes }] = json['results'] as [{ changes: object[] }]
  expect(changes.length).toBe(40 - refused)
})

test('no write slips between the old document that a guard sees and the new one', async () => {
  const changes: GuardedChange[] = []
  const { url, server } = await start({ guards: [growing(changes)] })
  const { rev } = (await send(url, 'PUT /db/a', { n: 0 })).json as { rev: string }
  // Single documents of several requests are written in one commit.
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => send(url, 'PUT /db/a', { _rev: rev, n: n + 1 })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  const others = await Promise.all(Array.from({ length: 30 }, (_, n) => send(url, `PUT /db/d${n}`, { n: 15 - n })))
  expect(others.map(({ status }) => status)).toEqual(others.map((_, n) => (n <= 15 ? 201 : 403)))
  expect(changes.every(({ document, old }) => old === undefined || old['_id'] === document['_id'])).toBe(true)
  expect((await server.database.collection('db').info()).documents).toBe(17)
})

test('validate_doc_update judges again what was changed while it judged', async () => {
  const reached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  let asked = 0
  // Asked after the validation, so that this one has been passed by then.
  const late: WriteGuard = {
    prepare: async ({ documents }) => {
      if (documents[0]!['_rev'] === '3-c' && asked++ === 0) {
        reached.resolve()
        await goOn.promise
      }
      return documents
    },
  }
  const { url } = await start({ guards: [late] })
  const validate = `function (now, old) { if (old && now.n < old.n) throw { forbidden: now.n + ' after ' + old.n } }`
  await send(url, 'PUT /db/_design/d', { validate_doc_update: validate })
  const write = (rev: string, ids: string[], n: number): Promise<Answer> =>
    send(url, 'POST /db/_bulk_docs', {
      docs: [{ _id: 'a', _rev: rev, _revisions: { start: ids.length, ids }, n }],
      new_edits: false,
    })
  expect((await write('1-a', ['a'], 1)).json).toEqual([])
  const third = write('3-c', ['c', 'b', 'a'], 3)
  await reached.promise
  expect((await write('2-b', ['b', 'a'], 5)).json).toEqual([])
  goOn.resolve()
  expect((await third).json).toMatchObject([{ id: 'a', error: 'forbidden', reason: '3 after 5' }])
  expect(asked).toBe(1)
  expect((await send(url, 'GET /db/a')).json).toMatchObject({ n: 5 })
})

test('any number of revisions of a document in one batch are validated, each after the one before', async () => {
  const { url } = await start()
  const validate = `function (now, old) { if (old && now.n !== old.n + 1) throw { forbidden: now.n + ' after ' + old.n } }`
  await send(url, 'PUT /db/_design/d', { validate_doc_update: validate })
  const suffixes = Array.from({ length: 30 }, (_, n) => `s${n}`)
  const docs = suffixes.map((suffix, n) => {
    const ids = suffixes.slice(0, n + 1).toReversed()
    return { _id: 'a', _rev: `${n + 1}-${suffix}`, _revisions: { start: n + 1, ids }, n }
  })
  const leaves = Array.from({ length: 30 }, (_, n) => ({ _id: 'b', _rev: `1-x${n}`, n }))
  const { json } = await send(url, 'POST /db/_bulk_docs', { docs: [...docs, ...leaves], new_edits: false })
  expect(json).toEqual([])
  expect((await send(url, 'GET /db/a')).json).toMatchObject({ _rev: '30-s29', n: 29 })
  const branches = await send(url, 'GET /db/b?open_revs=all', undefined, { accept: 'application/json' })
  expect(branches.json).toHaveLength(30)
})

test('several revisions of a document in one batch are judged one after the other', async () => {
  const { url } = await start({ guards: [growing()] })
  const docs = [
    { _id: 'a', _rev: '1-a', n: 1 },
    { _id: 'a', _rev: '2-b', _revisions: { start: 2, ids: ['b', 'a'] }, n: 5 },
    { _id: 'a', _rev: '3-c', _revisions: { start: 3, ids: ['c', 'b', 'a'] }, n: 3 },
    { _id: 'b', _rev: '1-a', n: 1 },
  ]
  const { json } = await send(url, 'POST /db/_bulk_docs', { docs, new_edits: false })
  expect(json).toMatchObject([{ id: 'a', rev: '3-c', error: 'forbidden', reason: '3 is less than 5' }])
  expect((await send(url, 'GET /db/a')).json).toMatchObject({ _rev: '2-b', n: 5 })
})

test('a replication that the server runs passes guards, as the principal that it acts for', async () => {
  const writers: Principal[] = []
  const guard: WriteGuard = {
    decide: ({ principal: writer, database }) => {
      if (database !== 'target') return undefined
      writers.push(writer)
      return ({ document }) => (document['bad'] === true ? new ServiceError('FORBIDDEN', 'no') : undefined)
    },
  }
  const server = await start({ guards: [guard] })
  const { url } = server
  await addUser(server, 'ann')
  await send(url, 'PUT /target')
  for (const name of ['db', 'target']) await send(url, `PUT /${name}/_security`, { members: { names: ['ann'] } })
  await send(url, 'POST /db/_bulk_docs', { docs: [{ _id: 'a' }, { _id: 'b', bad: true }, { _id: 'c' }] })
  const answer = await send(url, 'POST /_replicate', { source: 'db', target: 'target' }, ANN)
  expect(answer.json).toMatchObject({ ok: true, history: [{ docs_written: 2, doc_write_failures: 1 }] })
  expect(writers).toContainEqual({ name: 'ann', roles: [], isAdmin: false, by: 'delegation' })
  expect(new Set(writers.map(({ name }) => name))).toEqual(new Set(['ann']))
  const { json } = await send(url, 'GET /target/_all_docs')
  expect(json).toMatchObject({ rows: [{ id: 'a' }, { id: 'c' }] })
})

test('who may not open a collection gets none, and of _users only the own document', async () => {
  const server = await start()
  const { gateway } = server.server
  await addUser(server, 'ann')
  await addUser(server, 'bob')
  for (const name of ['db', '_users', '_replicator', 'nowhere'])
    await expect(gateway.collection(GUEST, name)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  await expect(gateway.collection(principal('ann'), 'db')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(gateway.administration(principal('ann'), 'db')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(gateway.names(principal('ann'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(gateway.create(principal('ann'), 'new')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(gateway.drop(principal('ann'), 'db')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(gateway.collection(SYSTEM, '$server')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const users = await gateway.collection(principal('ann'), '_users')
  expect(await users.get('org.couchdb.user:ann')).toMatchObject({ name: 'ann' })
  const { signal } = new AbortController()
  const others = 'org.couchdb.user:bob'
  const reads: readonly (() => unknown)[] = [
    () => users.get(others),
    () => users.getAttachment(others, 'x'),
    () => users.bulkGet([{ id: 'org.couchdb.user:ann' }, { id: others }], {}),
    () => users.revsDiff({ [others]: ['1-a'] }),
    () => users.list({}).toArray(),
    () => users.list({ ids: [others] }).toArray(),
    () => users.changes({}).toArray(),
    () => users.changes({ ids: [others] }).toArray(),
    () => users.find({}).toArray(),
    () => users.view('v', { map: () => {} }).query(),
    () => users.info(),
    () => users.security(),
    () => users.exportReplica(signal),
    () => users.getLocal('_local/x'),
    () => users.listLocal(),
    () => users.putLocal({ _id: '_local/x' }),
    () => users.deleteLocal('_local/x'),
  ]
  for (const read of reads)
    await expect((async () => read())(), String(read)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  // Its methods are those above, and two that give nothing away.
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(users)).filter((name) => name !== 'constructor')
  const asked = new Set(reads.map((read) => /users\.(\w+)/.exec(String(read))![1]))
  expect(methods.filter((name) => !asked.has(name)).sort()).toEqual(['epoch', 'put'])
  const [refused] = await users.put([{ _id: others, name: 'bob', type: 'user', roles: [] }])
  expect(refused).toMatchObject({ id: others, error: { code: 'CONFLICT' } })
})

test('a route of a database that forgets what it needs shows nothing to a stranger, and writes nothing', async () => {
  const routes: { readonly method: string; readonly url: string }[] = []
  const forgetful = fastifyPlugin(async (app) => {
    app.addHook('onRoute', (route) => {
      if (!route.url.startsWith('/:db')) return
      route.config = { ...route.config, needs: 'anyone' }
      for (const method of [route.method].flat()) routes.push({ method, url: route.url })
    })
  })
  const server = await start({ http: { plugins: [forgetful] } })
  const { url } = server
  await send(url, 'PUT /db/x', { secret: 'the secret' })
  await addUser(server, 'secret')
  const before = await send(url, 'GET /db')
  expect(routes.length).toBeGreaterThan(60)
  for (const { method, url: route } of routes) {
    const path = route.replace('_local/:id', '_local/x').replace(/:(?!db)\w+|\*/g, 'x')
    for (const database of ['db', '_users', '_replicator', 'nowhere']) {
      const body = method === 'POST' || method === 'PUT' ? { docs: [], keys: ['x'], selector: {} } : undefined
      const headers = { destination: 'y', ...STRANGER }
      const { status, text } = await send(url, `${method} ${path.replace(':db', database)}`, body, headers)
      expect([method, route, database, status >= 400 && status < 500]).toEqual([method, route, database, true])
      expect(text).not.toContain('secret')
    }
  }
  expect((await send(url, 'GET /db')).json).toEqual(before.json)
})

test('a guarded collection gives away nothing that has other ways in', async () => {
  const { server } = await start()
  const docs = await server.gateway.collection(SYSTEM, 'db')
  expect(Object.keys(docs).sort()).toEqual(['database', 'name', 'principal'])
  expect(Object.values(docs)).toEqual([SYSTEM, 'db', 'db'])
  const view = docs.view('v', { map: (one: { _id: string }, emit: (key: unknown) => void) => emit(one._id) })
  expect(Object.keys(view).sort()).toEqual(['info', 'query', 'rows'])
  expect(Object.keys(server.gateway)).toEqual([])
})

test('a stranger signs up where that is allowed, and reads nothing', async () => {
  const { url, server } = await start({ auth: { signUp: true } })
  const ann = { name: 'ann', type: 'user', roles: [], password: 'password-of-ann' }
  expect((await send(url, 'PUT /_users/org.couchdb.user:ann', ann, STRANGER)).status).toBe(201)
  expect((await send(url, 'GET /_users/org.couchdb.user:ann', undefined, STRANGER)).status).toBe(401)
  const users = await server.gateway.collection(GUEST, '_users')
  await expect(users.get('org.couchdb.user:ann')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect((await send(url, 'GET /_users/org.couchdb.user:ann', undefined, ANN)).json).toMatchObject({ name: 'ann' })
})
