/**
 * Goal: each method of the public interface has an example, and each example works. Method: the examples are read from the snapshots of
 * the interface and run, each on a database of its own in memory; `https://…` is another one. Their types are checked with the
 * reference (tools/docs).
 */
import { createWriteStream, openAsBlob, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { transformSync } from 'esbuild'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { makeFolder, removeFolder } from '../../../tools/processes.ts'
import { membersOf, statementsOf, withoutDocs } from '../../../tools/checks/statements.ts'
import { readDocstring } from '../../../tools/docs/docstring.ts'
import * as pannier from '../src/index.ts'
import type { Database, OpenOptions } from '../src/index.ts'
import { memory } from '../src/memory.ts'
import { couchFetch } from '../testing/couch-fetch.ts'

/** What applications give to the library, which calls it. */
const CALLED_BY_THE_LIBRARY: ReadonlySet<string> = new Set([
  'DatabaseStorage',
  'Environment',
  'NetworkStatus',
  'WriteContext',
])
/** What the language calls. */
const OF_THE_LANGUAGE = /^(?:\[Symbol\.\w+\]|then|constructor)$/
/** A live loop ends so, with the signal of the example. */
function isEndOfSignal(error: unknown): boolean {
  return (
    pannier.isPannierError(error, 'PANNIER_ABORTED') || (error instanceof DOMException && error.name === 'TimeoutError')
  )
}

interface Example {
  readonly name: string
  readonly code: string
}

const methods = new Map<string, Example[]>()
const examples: Example[] = []
for (const entry of ['index', 'types'])
  readEntry(readFileSync(join(import.meta.dirname, `../api/${entry}.d.ts`), 'utf8'))

const folder = makeFolder('examples')
afterAll(() => removeFolder(folder))

test('every method of the public interface has an example', () => {
  expect(methods.size).toBeGreaterThan(140)
  expect([...methods].filter(([, found]) => found.length === 0).map(([name]) => name)).toEqual([])
})

describe('an example works', () => {
  test.each(examples)('$name', async ({ name, code }) => {
    await using place = await makePlace(/^Encryption\.|changePassword/.test(name))
    const { context } = place
    const { code: script } = transformSync(`{ ${code.replaceAll(/^import .*$/gm, '')}\n }`, { loader: 'ts' })
    const run = new AsyncFunction(...Object.keys(context), script)
    try {
      await run(...Object.values(context))
    } catch (error) {
      if (!code.includes('signal') || !isEndOfSignal(error)) throw error
    }
  })
})

const AsyncFunction = (async () => {}).constructor as new (...code: string[]) => (...args: unknown[]) => Promise<void>

function readEntry(snapshot: string): void {
  for (const statement of statementsOf(snapshot)) {
    const [, owner] = /^export (?:abstract )?(?:const|function|class|interface|type) (\w+)/.exec(statement.text) ?? []
    if (owner === undefined) continue
    examples.push(...examplesOf(owner, statement.docs))
    for (const { docs, text } of membersOf(statement)) {
      const bare = withoutDocs(text)
      const [, member] = /^(?:static |abstract |get )*(\w+|\[[\w.]+\])/.exec(bare) ?? []
      const name = `${owner}.${member}`
      const found = examplesOf(name, docs)
      examples.push(...found)
      const isMethod = !bare.startsWith('get ') && /^(?:static |abstract )*(?:\w+|\[[\w.]+\])[<(]/.test(bare)
      if (!isMethod || OF_THE_LANGUAGE.test(member!) || CALLED_BY_THE_LIBRARY.has(owner)) continue
      // An overload has the example of the one before it.
      methods.set(name, [...(methods.get(name) ?? []), ...found])
    }
  }
}

function examplesOf(name: string, docs: string): Example[] {
  return readDocstring(docs).examples.map((code, at) => ({ name: at === 0 ? name : `${name} (${at + 1})`, code }))
}

/** A database with what examples take for granted, and what an app has around it. */
async function makePlace(isEncrypted: boolean): Promise<{ context: Record<string, unknown> } & AsyncDisposable> {
  // In the place of a browser's: IndexedDB, the default, and OPFS.
  const [storage, files] = [memory(), memory()]
  const opened: Database[] = []
  const open = async (name: string, options: OpenOptions = {}): Promise<Database> => {
    const db = await pannier.open(name, { storage, ...options })
    opened.push(db)
    return db
  }
  const there = await pannier.open('there', { storage: memory() })
  for (const name of ['people', 'places'])
    await there.collection(name).insert({ _id: 'zoe', name: 'Zoe', city: 'Oslo' })
  vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) =>
    String(url).startsWith('http')
      ? couchFetch(there)(String(url), { ...init, headers: {} } as never)
      : Promise.resolve(new Response(snapshot)),
  )
  const encryption = { password: 'old password', derivation: 'pbkdf2' } as const
  const db = await open('app', isEncrypted ? { encryption } : {})
  const snapshot = await new Response(there.snapshot()).bytes()
  const people = db.collection<Record<string, unknown>>('people', {
    indexes: ['age', { on: 'email', unique: true }, { on: ['name'], text: true }],
  })
  await people.insert([
    { _id: 'ann', name: 'Ann', age: 31, city: 'Oslo', tags: ['vip', 'new'], active: true },
    { _id: 'bob', name: 'Bob', age: 17, city: 'Bergen', tags: ['a', 'b'] },
  ])
  const photo = new File(['a photo'], 'photo.jpg', { type: 'image/jpeg' })
  await people.putAttachment('ann', 'photo.jpg', photo)
  await db.collection('accounts').insert(['a', 'b'].map((_id) => ({ _id, amount: 50 })))
  await db.collection('messages').insert({ _id: 'm', read: false })
  // What is repaired, and what is opened again.
  const shop = await open('shop')
  await shop.collection('people').insert({ _id: 'ann' })
  await shop.close()
  writeFileSync(join(folder, 'people.ndjson'), '{"_id":"carl","name":"Carl","age":40}\n')
  await people.ready()
  const sync = people.sync('https://example.org/people', { live: true })
  const nothing = (): void => {}
  const context = {
    ...pannier,
    open,
    repair: (name: string, options: object) => pannier.repair(name, { ...options, storage } as never),
    indexedDb: () => storage,
    opfs: () => files,
    Writable,
    createWriteStream: (name: string) => createWriteStream(join(folder, name)),
    openAsBlob: (name: string) => openAsBlob(join(folder, name)),
    db,
    people,
    messages: db.collection('messages'),
    query: people.find(),
    search: people.search('ann'),
    byCity: people.view('byCity', {
      map: (person, emit: pannier.Emit<unknown, unknown>) => emit(person['city'], person['age']),
      reduce: '_count',
    }),
    sync,
    attachment: await people.getAttachment('ann', 'photo.jpg'),
    ann: await people.get('ann'),
    since: 0,
    seq: 0,
    city: 'Oslo',
    id: 'ann',
    password: 'correct horse',
    signal: AbortSignal.timeout(300),
    file: photo,
    response: { body: new Response('a film').body },
    image: {},
    URL: { createObjectURL: () => 'blob:photo' },
    requestIdleCallback: (work: () => void) => work(),
    user: { wantsItFaster: () => Promise.resolve(true) },
    console: { log: nothing, warn: nothing },
    show: nothing,
    render: nothing,
    refresh: nothing,
    offerExport: nothing,
    merge: (mine: unknown) => mine,
  }
  return {
    context,
    async [Symbol.asyncDispose]() {
      sync.cancel()
      await sync
      for (const one of [...opened, there]) await one.close()
      vi.unstubAllGlobals()
    },
  }
}
