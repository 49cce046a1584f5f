/** Goal: hooks of records hold for what is written through CouchDB's door and by the program around the server, too. */
import { SYSTEM, ServiceError } from '@pannier/backend'
import type { BoundHook, HookEvents, HookHandler } from '@pannier/backend/internal'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { basic, send } from '../test-server.ts'
import { EMAIL, PASSWORD, startRest, type RestServer } from '../rest/rest-server.ts'

const ROOT = { authorization: basic(`${EMAIL}:${PASSWORD}`) }

let server: RestServer
beforeAll(async () => {
  server = await startRest()
  const fields = [
    { name: 'title', type: 'text', required: true },
    { name: 'slug', type: 'text', max: 20 },
    { name: 'file', type: 'file' },
  ]
  await server.call('POST /collections', { name: 'posts', type: 'base', fields })
  await server.call('POST /collections', { name: 'people', type: 'auth' })
})
afterEach(() => server.server.backend.hooks.replace([]))
afterAll(() => server.close())

function bound<Name extends keyof HookEvents>(name: Name, handler: HookHandler<HookEvents[Name]>): BoundHook {
  return { name, handler, tags: ['posts', 'people'], source: 'hooks/test.ts:1' }
}

function withHooks(...hooks: readonly BoundHook[]): void {
  server.server.backend.hooks.replace(hooks)
}

function door(request: string, body?: unknown): ReturnType<typeof send> {
  return send(server.url, request, body, ROOT)
}

let next = 0
/** A new id of a record. */
function newId(): string {
  return `record${String(next++).padStart(9, '0')}`
}

async function stored(id: string): Promise<Record<string, unknown> | undefined> {
  const { status, json } = await server.call(`GET /collections/posts/records/${id}`)
  return status === 200 ? json : undefined
}

const KINDS = ['Create', 'Update', 'Delete'] as const

test('each write has the events that it has by REST, in their order', async () => {
  const seen: string[] = []
  const steps = KINDS.flatMap((kind) => [
    `onRecord${kind}Request` as const,
    `onModel${kind}` as const,
    `onRecord${kind}` as const,
    `onRecord${kind}Execute` as const,
    `onRecordAfter${kind}Success` as const,
    `onRecordAfter${kind}Error` as const,
  ])
  withHooks(
    ...[...steps, 'onRecordValidate' as const].map((name) =>
      bound(name, async (e) => {
        seen.push(name)
        await e.next()
        seen.push(`/${name}`)
      }),
    ),
  )
  const writes: (readonly [door: () => Promise<string>, rest: () => Promise<unknown>])[] = []
  const [one, other] = [newId(), newId()]
  let rev = ''
  const put = async (body: object): Promise<string> => {
    const answer = await door(`PUT /posts/${one}`, { ...body, ...(rev !== '' && { _rev: rev }) })
    return (rev = String(answer.json['rev']))
  }
  writes.push(
    [() => put({ title: 'a' }), () => server.call('POST /collections/posts/records', { id: other, title: 'a' })],
    [() => put({ title: 'b' }), () => server.call(`PATCH /collections/posts/records/${other}`, { title: 'b' })],
    [() => put({ _deleted: true }), () => server.call(`DELETE /collections/posts/records/${other}`)],
  )
  for (const [byDoor, byRest] of writes) {
    expect(await byDoor()).toMatch(/^\d-/)
    const events = seen.splice(0)
    await byRest()
    expect(events).toEqual(seen.splice(0))
    expect(events.length).toBeGreaterThan(9)
  }
})

test('what a hook sets is stored, modifiers too; the answer names the revision that is stored', async () => {
  const seen: unknown[] = []
  withHooks(
    bound('onRecordCreate', async (e) => {
      e.record.set('slug', e.record.getString('title').toLowerCase())
      await e.next()
      seen.push(e.record.id, e.record.get('slug'), e.record.isNew())
    }),
    bound('onRecordUpdate', (e) => {
      e.record.set('title', `${e.record.original().getString('title')} > ${e.record.getString('title')}`)
      return e.next()
    }),
  )
  const id = newId()
  const { json } = await door(`PUT /posts/${id}`, { title: 'One' })
  expect(await stored(id)).toMatchObject({ title: 'One', slug: 'one' })
  expect(seen).toEqual([id, 'one', false])
  const { json: document } = await door(`GET /posts/${id}`)
  expect(document['_rev']).toBe(json['rev'])
  await door(`PUT /posts/${id}`, { ...document, title: 'Two' })
  expect(await stored(id)).toMatchObject({ title: 'One > Two', slug: 'one' })
})

test('a hook refuses one document of a bulk write; the others are written, each hook runs to its end', async () => {
  const ended: string[] = []
  withHooks(
    bound('onRecordCreateRequest', async (e) => {
      if (e.record.get('title') === 'spam') throw new ServiceError('FORBIDDEN', 'No spam.')
      if (e.record.get('title') === 'silent') return
      await e.next()
    }),
    bound('onRecordAfterCreateSuccess', (e) => {
      ended.push(`stored ${e.record.getString('title')}`)
      throw new Error('It is too late to refuse it.')
    }),
    bound('onRecordAfterCreateError', async (e) => {
      ended.push(`refused ${e.record.getString('title')}`)
      await e.next()
    }),
  )
  const [good, spam, wrong, silent, last] = Array.from({ length: 5 }, newId)
  const { json } = await door('POST /posts/_bulk_docs', {
    docs: [
      { _id: good, title: 'good' },
      { _id: spam, title: 'spam' },
      { _id: wrong, title: 'wrong', slug: 'x'.repeat(21) },
      { _id: silent, title: 'silent' },
      { _id: last, title: 'last' },
    ],
  })
  expect(json).toEqual([
    { ok: true, id: good, rev: expect.any(String) },
    { id: spam, error: 'forbidden', reason: 'No spam.' },
    expect.objectContaining({ id: wrong, error: expect.any(String) }),
    { id: silent, error: 'forbidden', reason: 'A hook has stopped the write: it has not called next().' },
    { ok: true, id: last, rev: expect.any(String) },
  ])
  expect(ended.toSorted()).toEqual(['refused wrong', 'stored good', 'stored last'])
  expect([await stored(good!), await stored(spam!), await stored(silent!)].map((one) => one?.['title'])).toEqual([
    'good',
    undefined,
    undefined,
  ])
})

test('hooks see what a conflict makes of a write, and the answer stays a conflict', async () => {
  const id = newId()
  const first = await door(`PUT /posts/${id}`, { title: 'first' })
  const errors: unknown[] = []
  let runs = 0
  withHooks(
    bound('onRecordUpdate', async (e) => {
      runs++
      if (e.record.get('title') === 'slow') await door(`PUT /posts/${id}`, { title: 'quick', _rev: first.json['rev'] })
      await e.next()
    }),
    bound('onRecordAfterUpdateError', async (e) => {
      errors.push((e.error as ServiceError).code)
      await e.next()
    }),
  )
  const slow = await door(`PUT /posts/${id}`, { title: 'slow', _rev: first.json['rev'] })
  expect([slow.status, slow.json['error']]).toEqual([409, 'conflict'])
  expect(await stored(id)).toMatchObject({ title: 'quick' })
  expect(errors).toEqual(['CONFLICT'])
  expect((await door(`PUT /posts/${id}`, { title: 'stale', _rev: first.json['rev'] })).status).toBe(409)
  // No hook runs for the last one, which is refused anyway.
  expect(runs).toBe(2)
})

test('replication into a collection runs hooks once a revision: they refuse, and what they set is not stored', async () => {
  let runs = 0
  withHooks(
    bound('onRecordValidate', (e) => {
      runs++
      if (e.record.get('title') === 'spam') throw new ServiceError('FORBIDDEN', 'No spam.')
      e.record.set('slug', 'from a hook')
      return e.next()
    }),
  )
  const [good, spam] = [newId(), newId()]
  await door('PUT /replicated')
  const docs = [
    { _id: good, title: 'good', slug: 'sent', file: '' },
    { _id: spam, title: 'spam', slug: '', file: '' },
  ]
  await door('POST /replicated/_bulk_docs', { docs })
  const replicate = { source: 'replicated', target: 'posts' }
  expect((await door('POST /_replicate', replicate)).json['history']).toMatchObject([
    { docs_written: 1, doc_write_failures: 1 },
  ])
  expect(await stored(good)).toMatchObject({ title: 'good', slug: 'sent' })
  expect(await stored(spam)).toBeUndefined()
  expect(runs).toBe(2)
  const { json } = await door(`GET /posts/${good}?revs=true`)
  const again = await door('POST /posts/_bulk_docs', { new_edits: false, docs: [json] })
  expect([again.status, runs]).toEqual([201, 2])
})

test('writes of the program around the server run hooks, without those of requests', async () => {
  const seen: string[] = []
  withHooks(
    bound('onRecordCreateRequest', (e) => (seen.push('request'), e.next())),
    bound('onRecordCreate', (e) => (seen.push('create'), e.record.set('slug', 'set'), e.next())),
  )
  const posts = await server.server.gateway.collection(SYSTEM, 'posts')
  const id = newId()
  await posts.put([{ _id: id, title: 'by the program' }])
  expect(seen).toEqual(['create'])
  expect(await stored(id)).toMatchObject({ slug: 'set' })
})

test('a hook sees no hash, and a password that it sets is hashed and ends all tokens', async () => {
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  const { json: made } = await server.call('POST /collections/people/records', account)
  const { json: before } = await door(`GET /people/${String(made['id'])}`)
  const seen: unknown[] = []
  withHooks(
    bound('onRecordUpdate', (e) => {
      seen.push(e.record.get('password'))
      e.record.set('password', 'another password')
      return e.next()
    }),
  )
  expect((await door(`PUT /people/${String(made['id'])}`, before)).status).toBe(201)
  const { json: after } = await door(`GET /people/${String(made['id'])}`)
  expect(seen).toEqual([''])
  expect(after['password']).toMatch(/^\$argon2id\$/)
  expect([after['password'] === before['password'], after['tokenKey'] === before['tokenKey']]).toEqual([false, false])
  const login = { identity: 'ann@example.com', password: 'another password' }
  expect((await server.call('POST /collections/people/auth-with-password', login)).status).toBe(200)
})

test('a file that a hook removes goes with the write', async () => {
  const id = newId()
  await door(`PUT /posts/${id}`, {
    title: 'with a file',
    file: 'a.txt',
    _attachments: { 'a.txt': { content_type: 'text/plain', data: 'aGk=' } },
  })
  withHooks(bound('onRecordUpdate', (e) => (e.record.set('file', ''), e.next())))
  const { json } = await door(`GET /posts/${id}`)
  expect(json['_attachments']).toBeDefined()
  await door(`PUT /posts/${id}`, json)
  const { json: after } = await door(`GET /posts/${id}`)
  expect([after['file'], after['_attachments']]).toEqual(['', undefined])
})

test('values of a program are stored as by REST, or refuse the write as there', async () => {
  const fields = ['date', 'json', 'file'].map((type) => ({ name: `my${type}`, type }))
  await server.call('POST /collections', { name: 'values', type: 'base', fields })
  const time = new Date('2026-05-06T07:08:09Z')
  const values: Readonly<Record<string, unknown>> = {
    Date: time,
    File: new File(['abc'], 'a.txt'),
    bytes: new TextEncoder().encode('abc'),
    instance: new (class {
      at = time
    })(),
    NaN: Number.NaN,
    function: () => 1,
  }
  const set = (name: string, value: unknown): void =>
    withHooks({
      ...bound('onRecordCreate', (e) => {
        e.record.set(name, value)
        return e.next()
      }),
      tags: ['values'],
    })
  const shown = ({ json }: { readonly json: Record<string, unknown> }, name: string): string =>
    JSON.stringify(json[name])
      .replace(/^"a_\w+\.txt"$/, '"a.txt"')
      .replace(/^"\w{10,}(\.\w+)?"$/, '"drawn"')
  for (const { name } of fields)
    for (const [kind, value] of Object.entries(values)) {
      set(name, value)
      const byRest = await server.call('POST /collections/values/records', {})
      const id = newId()
      const atDoor = await door(`PUT /values/${id}`, {})
      const about = `${name} ${kind}`
      const isStored = byRest.status === 200
      expect([about, atDoor.status], atDoor.text).toEqual([about, isStored ? 201 : 400])
      if (isStored)
        expect(shown(await server.call(`GET /collections/values/records/${id}`), name)).toBe(shown(byRest, name))
    }
})
