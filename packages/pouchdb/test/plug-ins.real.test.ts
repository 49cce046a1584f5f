/**
 * Goal: plug-ins of PouchDB do with our adapter what they do with PouchDB's own. Method: each plays a short scene on PouchDB's memory
 * adapter and on ours, in memory and in an SQLite file, with the native paths on. What the scenes show is the same.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pannierAdapter } from 'pouchdb-adapter-pannier'
import { memory } from 'pannier/memory'
import { sqlite } from 'pannier/sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { installed, load } from './installed.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- plug-ins add what they like to it
type Any = any
type Make = (name?: string) => Any

const BASIS = ['pouchdb-adapter-memory', 'pouchdb-mapreduce', 'pouchdb-replication', 'pouchdb-find']
/** Scenes that put the package to use by themselves. */
const NO_PLUGINS = ['pouchdb-seed-design', 'pouchdb-wrappers', '@budibase/pouchdb-replication-stream']
const DESIGN = {
  _id: '_design/d',
  lists: {
    names: 'function (head, req) { var row, all = []; while ((row = getRow())) all.push(row.key); return all.join() }',
  },
  shows: { one: 'function (doc, req) { return "shown " + doc.n }' },
  updates: { more: 'function (doc, req) { doc.n++; return [doc, "updated"] }' },
  rewrites: [{ from: '/one', to: '_show/one/a' }],
  validate_doc_update: 'function (doc) { if (doc.n > 99) throw { forbidden: "too much" } }',
  views: { byN: { map: 'function (doc) { if (doc.n) emit(doc.n) }' } },
}

/** The scenes by plug-in. What a scene returns must not depend on the adapter. */
const SCENES: Readonly<Record<string, (make: Make, PouchDB: Any, plugin: Any) => Promise<unknown>>> = {
  'pouchdb-upsert': async (make) => {
    const db = make()
    const more = (doc: Any): unknown => ({ ...doc, n: (doc.n ?? 0) + 1 })
    await Promise.all(Array.from({ length: 10 }, () => db.upsert('a', more)))
    await db.putIfNotExists({ _id: 'a', n: 0 })
    return (await db.get('a')).n
  },
  'relational-pouch': async (make) => {
    const db = make()
    db.setSchema([
      { singular: 'author', plural: 'authors', relations: { books: { hasMany: 'book' } } },
      { singular: 'book', plural: 'books', relations: { author: { belongsTo: 'author' } } },
    ])
    await db.rel.save('author', { name: 'Ann', id: 1, books: [6] })
    await db.rel.save('book', { title: 'Tea', id: 6, author: 1 })
    const { authors, books } = await db.rel.find('author', 1)
    await db.rel.putAttachment('author', authors[0], 'f', Buffer.from('hi').toString('base64'), 'text/plain')
    return [
      books[0].title,
      String(await db.rel.getAttachment('author', 1, 'f')),
      (await db.rel.find('book')).books.length,
    ]
  },
  'transform-pouch': async (make) => {
    const db = make()
    db.transform({
      incoming: (doc: Any) => ({ ...doc, x: `in${doc.x}` }),
      outgoing: (doc: Any) => ({ ...doc, y: 'out' }),
    })
    await db.put({ _id: 'a', x: 1 })
    await db.bulkDocs([{ _id: 'b', x: 2 }])
    const { rows } = await db.allDocs({ include_docs: true })
    const keys = (await db.query({ map: (doc: Any, emit: Any) => emit(doc.x) })).rows.map((row: Any) => row.key)
    const { results } = await db.changes({ include_docs: true })
    return [rows.map((row: Any) => [row.doc.x, row.doc.y]), keys, results.map((change: Any) => change.doc.y)]
  },
  'crypto-pouch': async (make) => {
    const db = make()
    await db.crypto('password')
    await db.put({ _id: 'a', secret: 'battery' })
    const encrypted = await db.get('a')
    return [encrypted.secret, (await db.allDocs({ include_docs: true })).rows[0].doc.secret]
  },
  'pouchdb-all-dbs': async (make, PouchDB) => {
    const db = make('listed')
    await db.info()
    const before = (await PouchDB.allDbs()).some((name: string) => name.endsWith('listed'))
    await db.destroy()
    return [before, (await PouchDB.allDbs()).some((name: string) => name.endsWith('listed'))]
  },
  'pouchdb-list': async (make) => {
    const db = make()
    await db.bulkDocs([DESIGN, { _id: 'a', n: 1 }, { _id: 'b', n: 2 }])
    return (await db.list('d/names/byN')).body
  },
  'pouchdb-show': async (make) => {
    const db = make()
    await db.bulkDocs([DESIGN, { _id: 'a', n: 1 }])
    return (await db.show('d/one/a')).body
  },
  'pouchdb-update': async (make) => {
    const db = make()
    await db.bulkDocs([DESIGN, { _id: 'a', n: 1 }])
    return [(await db.update('d/more/a')).body, (await db.get('a')).n]
  },
  'pouchdb-rewrite': async (make, PouchDB) => {
    PouchDB.plugin(load('pouchdb-show'))
    const db = make()
    await db.bulkDocs([DESIGN, { _id: 'a', n: 1 }])
    return (await db.rewrite('d/one')).body
  },
  'pouchdb-validation': async (make) => {
    const db = make()
    await db.put(DESIGN)
    db.installValidationMethods()
    const refused = await db.put({ _id: 'a', n: 100 }).catch((error: Any) => [error.status, error.name])
    return [refused, (await db.put({ _id: 'b', n: 1 })).ok, (await db.bulkDocs([{ _id: 'c', n: 2 }])).length]
  },
  'pouchdb-security': async (make) => {
    const db = make()
    await db.putSecurity({ members: { names: ['ann'], roles: [] }, admins: { names: [], roles: [] } })
    db.installSecurityMethods()
    const context = (name: string): object => ({ userCtx: { name, roles: [] } })
    const refused = await db.get('a', context('bob')).catch((error: Any) => error.status)
    return [refused, (await db.getSecurity()).members.names]
  },
  'pouchdb-auth': async (make) => {
    const db = make()
    await db.useAsAuthenticationDB({ isOnlineAuthDB: false })
    await db.signUp('ann', 'secret')
    await db.logIn('ann', 'secret')
    return (await db.session()).userCtx.name
  },
  'pouchdb-wrappers': async (make, _, plugin) => {
    const db = make()
    plugin.installWrapperMethods(db, {
      get: async (original: Any, { base }: Any) => ({ ...(await original()), base: base !== undefined }),
    })
    await db.put({ _id: 'a' })
    return Object.keys(await db.get('a')).sort()
  },
  'pouchdb-debug': async (make, PouchDB) => {
    const heard: unknown[] = []
    PouchDB.on('debug', (what: unknown[]) => what[0] === 'api' && heard.push(what[2]))
    const db = make()
    await db.put({ _id: 'a' })
    await db.get('a')
    PouchDB.removeAllListeners('debug')
    return [...new Set(heard)]
  },
  'pouchdb-erase': async (make) => {
    const db = make()
    await db.bulkDocs([{ _id: 'a' }, { _id: 'b' }])
    await db.erase()
    return (await db.allDocs()).rows.length
  },
  'pouchdb-hoodie-api': async (make) => {
    const api = make().hoodieApi()
    await api.add({ _id: 'a', n: 1 })
    await api.update('a', { n: 2 })
    await api.add({ _id: 'b', n: 3 })
    await api.remove('b')
    return (await api.findAll()).map(({ n }: Any) => n)
  },
  '@budibase/pouchdb-replication-stream': async (make, PouchDB, plugin) => {
    PouchDB.plugin(plugin.plugin)
    PouchDB.adapter('writableStream', plugin.adapters.writableStream)
    const { PassThrough } = await import('node:stream')
    const [source, target] = [make(), make()]
    await source.bulkDocs([{ _id: 'a', n: 1 }, { _id: 'b' }])
    const stream = new PassThrough()
    let text = ''
    stream.on('data', (chunk) => (text += String(chunk)))
    await source.dump(stream)
    const again = new PassThrough()
    const loading = target.load(again)
    again.end(text)
    await loading
    return (await target.allDocs()).rows.map(({ id }: Any) => id)
  },
  'pouchdb-live-find': async (make) => {
    const db = make()
    await db.bulkDocs([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ])
    const feed = db.liveFind({ selector: { n: { $gt: 1 } }, sort: ['n'], aggregate: true })
    const seen: unknown[] = []
    const reached = async (ids: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (update: Any, all: Any): void => {
          if (update !== undefined) seen.push([update.action, update.id])
          if (all.map(({ _id }: Any) => _id).join('') !== ids) return
          feed.removeListener('update', look)
          resolve()
        }
        feed.on('update', look)
      })
    await reached('b')
    const added = reached('bc')
    await db.put({ _id: 'c', n: 3 })
    await added
    const changed = reached('c')
    await db.put({ ...(await db.get('b')), n: 0 })
    await changed
    feed.cancel()
    return seen
  },
  'pouchdb-seed-design': async (make, _, plugin) => {
    const db = make()
    await plugin(db, { d: { views: { byN: { map: DESIGN.views.byN.map } } } })
    await plugin(db, { d: { views: { byN: { map: DESIGN.views.byN.map } } } })
    await db.put({ _id: 'a', n: 1 })
    return [(await db.query('d/byN')).rows, (await db.get('_design/d'))._rev.slice(0, 2)]
  },
  'pouchdb-replication': async (make) => {
    const [source, target] = [make(), make()]
    await source.bulkDocs([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2, _attachments: { f: { content_type: 't/p', data: 'aGk=' } } },
    ])
    const { docs_written: written } = await source.replicate.to(target, { selector: { n: { $gt: 1 } } })
    await source.sync(target)
    return [written, String(await target.getAttachment('b', 'f')), (await target.info()).doc_count]
  },
  'pouchdb-mapreduce': async (make) => {
    const db = make()
    await db.bulkDocs(Array.from({ length: 9 }, (_, n) => ({ _id: `d${n}`, n: n % 3 })))
    return (await db.query({ map: 'function (doc) { emit(doc.n, 1) }', reduce: '_sum' }, { group: true })).rows
  },
  'pouchdb-find': async (make) => {
    const db = make()
    await db.bulkDocs(Array.from({ length: 9 }, (_, n) => ({ _id: `d${n}`, n: n % 3 })))
    await db.createIndex({ index: { fields: ['n'] } })
    const { docs } = await db.find({ selector: { n: { $gte: 1 } }, sort: [{ n: 'desc' }], limit: 4 })
    return docs.map(({ _id, n }: Any) => [_id, n])
  },
}

const folder = mkdtempSync(join(tmpdir(), 'pannier-plug-ins-'))
const cwd = process.cwd()
process.chdir(folder)
afterAll(() => {
  process.chdir(cwd)
  rmSync(folder, { recursive: true, force: true })
})

const STORAGES = { theirs: undefined, memory: memory(), 'an SQLite file': sqlite() }
let made = 0

/** A PouchDB of its own for each scene: plug-ins change it. */
async function play(name: string, storage: keyof typeof STORAGES): Promise<unknown> {
  const [require] = installed
  delete require!.cache[require!.resolve('pouchdb-core')]
  const base = load('pouchdb-core') as Any
  const options = storage === 'theirs' ? { adapter: 'memory' } : { adapter: 'pannier', storage: STORAGES[storage] }
  for (const plugin of [...BASIS.map(load), pannierAdapter]) base.plugin(plugin)
  const plugin = load(name) as Any
  if (!BASIS.includes(name) && !NO_PLUGINS.includes(name)) base.plugin(plugin)
  const PouchDB = base.defaults(options)
  return await SCENES[name]!((own = `plug${++made}`) => new PouchDB(join(folder, own)), PouchDB, plugin)
}

describe.each(Object.keys(SCENES))('%s', (name) => {
  test.each(['memory', 'an SQLite file'] as const)('as on PouchDB’s memory adapter: %s', async (storage) => {
    expect(await play(name, storage)).toEqual(await play(name, 'theirs'))
  })
})
