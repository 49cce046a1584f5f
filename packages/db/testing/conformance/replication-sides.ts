/**
 * Conformance of `db.replicate`: servers as both peers, events for the owners of collections, and a revision that
 * always fails does not stall a live replication.
 */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { PannierError } from '../../src/base/errors.ts'
import type { ReplicationEvent } from '../../src/replication/types.ts'
import type { WriteOutcome } from '../../src/document/write-documents.ts'
import { assertEqual, assertRejects } from '../check.ts'
import { couchFetch } from '../couch-fetch.ts'
import { eventually } from '../suite.ts'

type Docs = Collection<JsonObject>
type Case = (name: string, body: (here: Docs, there: Docs, db: Database) => Promise<void>) => void
type Documents = readonly JsonObject[]

const URL_HERE = 'https://couch.test/here'
const URL_THERE = 'https://couch.test/there'

async function ids(docs: Docs): Promise<string[]> {
  return (await docs.list().toArray()).map(({ id }) => id)
}

function deniedOf(events: readonly ReplicationEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'denied' ? [`${event.id} ${event.error.code}`] : []))
}

export function sideCases(check: Case): void {
  check('from a server to a server, each with options of its own', async (here, there, db) => {
    const content = new Uint8Array(100_000).map((_, at) => at % 253)
    await here.insert([{ _id: 'a' }, { _id: 'b' }])
    await here.delete('b')
    await here.putAttachment('c', 'large', content, { contentType: 'image/png' })
    await here.putAttachment('c', 'small', new Blob(['small'], { type: 'text/plain' }))
    const seen = new Set<string>()
    const serve = couchFetch(db, {
      intercept: (_path, init) => void seen.add(String(new Headers(init.headers).get('authorization'))),
    })
    const source = { url: URL_HERE, fetch: serve, auth: { username: 'ann', password: 'x' } }
    const target = { url: URL_THERE, fetch: serve, auth: { username: 'bob', password: 'y' } }
    const replication = db.replicate({ from: source, to: target })
    assertEqual((await replication).docsWritten, 3)
    assertEqual(replication.parts[0]!.direction, 'pull')
    assertEqual([...seen].sort(), [`Basic ${btoa('ann:x')}`, `Basic ${btoa('bob:y')}`])
    assertEqual(await ids(there), ['a', 'c'])
    assertEqual(await (await there.getAttachment('c', 'large'))!.bytes(), content)
    assertEqual(await (await there.getAttachment('c', 'small'))!.text(), 'small')
    assertEqual((await db.replicate({ from: source, to: target })).changesChecked, 0)
  })

  check('who has the target admits, changes or denies documents', async (here, there, db) => {
    await here.insert([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }])
    let writes = 0
    const target = {
      collection: there,
      around: <T>(write: () => Promise<T>): Promise<T> => {
        writes++
        return write()
      },
      admit: async (documents: Documents) =>
        documents.map((document) =>
          document['_id'] === 'b' ? new PannierError('PANNIER_DOCUMENT_INVALID', 'not b') : { ...document, seen: 1 },
        ),
    }
    const replication = db.replicate({ from: here, to: target })
    const events: ReplicationEvent[] = []
    replication.subscribe((event) => events.push(event))
    const { ok, docsWritten, docsDenied } = await replication
    assertEqual([ok, docsWritten, docsDenied, replication.parts[0]!.collection], [false, 2, 1, 'here'])
    assertEqual(deniedOf(events), ['b PANNIER_DOCUMENT_INVALID'])
    assertEqual([await ids(there), (await there.get('a'))?.['seen']], [['a', 'c'], 1])
    assertEqual(writes > 1, true)
    const refuse = (): Promise<never> => Promise.reject(new PannierError('PANNIER_NOT_FOUND', 'It is gone.'))
    await here.insert({ _id: 'd' })
    await assertRejects(
      Promise.resolve(db.replicate({ from: here, to: { ...target, around: refuse } })),
      'PANNIER_NOT_FOUND',
    )
  })

  check('who has the target stores the revisions, or denies some', async (here, there, db) => {
    await here.insert([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }])
    const store = async (documents: Documents): Promise<WriteOutcome[]> => {
      const outcomes: WriteOutcome[] = []
      for (const document of documents) {
        const error = new PannierError('PANNIER_DOCUMENT_INVALID', 'not b')
        if (document['_id'] === 'b') outcomes.push({ id: 'b', error })
        else outcomes.push(await there.put({ ...document, seen: 1 }, { newEdits: false, atomic: false }))
      }
      return outcomes
    }
    const replication = db.replicate({ from: here, to: { collection: there, store } })
    const events: ReplicationEvent[] = []
    replication.subscribe((event) => events.push(event))
    const { docsWritten, docsDenied } = await replication
    assertEqual([docsWritten, docsDenied, deniedOf(events)], [2, 1, ['b PANNIER_DOCUMENT_INVALID']])
    assertEqual([await ids(there), (await there.get('c'))?.['seen']], [['a', 'c'], 1])
  })

  check('who has the source filters documents, also while it is live', async (here, there, db) => {
    await here.insert([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ])
    const accept = async (documents: Documents): Promise<boolean[]> => documents.map(({ n }) => n === 2)
    const source = { collection: here, accept }
    const replication = db.replicate({ from: source, to: there, live: true, filter: 'design/even' })
    await eventually(() => replication.status === 'paused')
    await here.insert([
      { _id: 'c', n: 1 },
      { _id: 'd', n: 2 },
    ])
    await eventually(async () => (await ids(there)).length === 2)
    replication.cancel()
    await replication
    assertEqual(await ids(there), ['b', 'd'])
    await assertRejects(Promise.resolve(db.replicate({ from: here, to: there, filter: 'design/even' })), TypeError)
  })

  check(
    'an attachment that its source does not have denies its document, and the others go on',
    async (here, there, db) => {
      const content = new Uint8Array(200_000).fill(7)
      await there.insert([{ _id: 'a' }, { _id: 'z' }])
      await there.putAttachment('m', 'lost', content, { contentType: 'image/png' })
      await there.putAttachment('n', 'short', content, { contentType: 'image/png' })
      const intercept = (path: string): Response | undefined =>
        path === 'm/lost'
          ? new Response('{"error":"not_found","reason":"missing"}', { status: 404 })
          : path === 'n/short'
            ? new Response(content.subarray(1))
            : undefined
      const options = { fetch: couchFetch(db, { intercept }), backOff: () => 1, live: true }
      const pull = here.replicate({ from: URL_THERE, ...options })
      const events: ReplicationEvent[] = []
      pull.subscribe((event) => events.push(event))
      await eventually(() => pull.status === 'paused')
      await there.insert({ _id: 'later' })
      await eventually(async () => (await here.get('later')) !== undefined)
      pull.cancel()
      const { docsDenied } = await pull
      assertEqual([docsDenied, deniedOf(events)], [2, ['m PANNIER_PEER_UNREACHABLE', 'n PANNIER_PEER_UNREACHABLE']])
      assertEqual(await ids(here), ['a', 'later', 'z'])
    },
  )

  check(
    'a document on which the server always fails is denied; a server that is out of order denies none',
    async (here, there, db) => {
      await here.insert([{ _id: 'a' }, { _id: 'poison' }, { _id: 'z' }])
      let isBroken = true
      let failures = 0
      const intercept = (path: string, init: RequestInit): Response | undefined => {
        const isWrite = init.method === 'PUT' || path === '_bulk_docs'
        const isPoison = path === '_bulk_docs' && typeof init.body === 'string' && init.body.includes('poison')
        if (!(isBroken && isWrite) && !isPoison) return undefined
        failures++
        return new Response('{"error":"internal_server_error","reason":"badmatch"}', { status: 500 })
      }
      await there.insert({ _id: 'there' })
      const push = here.replicate({ to: URL_THERE, fetch: couchFetch(db, { intercept }), backOff: () => 1, live: true })
      const events: ReplicationEvent[] = []
      push.subscribe((event) => events.push(event))
      await eventually(() => failures > 40)
      assertEqual(deniedOf(events), [])
      isBroken = false
      await eventually(() => push.status === 'paused')
      push.cancel()
      assertEqual([(await push).docsWritten, deniedOf(events)], [2, ['poison PANNIER_PEER_UNREACHABLE']])
      assertEqual(await ids(there), ['a', 'there', 'z'])
    },
  )
}
