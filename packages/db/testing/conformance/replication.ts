/**
 * What replication promises on every storage (docs/internals/replication.md): between collections, and over HTTP with a server that is
 * played by couch-fetch.ts. `create` opens a new, empty database.
 */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { JsonObject, Stored } from '../../src/database/collection/document-types.ts'
import type { ReplicationEvent } from '../../src/replication/types.ts'
import { assertDefined, assertEqual, assertRejects, assertTrue } from '../check.ts'
import { couchFetch } from '../couch-fetch.ts'
import { eventually } from '../suite.ts'
import { SwitchedNetwork } from '../switched-network.ts'
import type { SuiteContext } from '../suite.ts'
import { hostileCases } from './replication-hostile.ts'
import { refusalCases } from './replication-refusals.ts'
import { sideCases } from './replication-sides.ts'
import { checkedCases } from './database-cases.ts'

type Docs = Collection<JsonObject>
type Case = (name: string, body: (here: Docs, there: Docs, db: Database) => Promise<void>) => void

const URL_THERE = 'https://couch.test/there'

export function replicationSuite({ test, create }: SuiteContext<() => Promise<Database>>): void {
  const onDatabase = checkedCases({ test, create })
  const check: Case = (name, body) => onDatabase(name, (db) => body(db.collection('here'), db.collection('there'), db))
  directionCases(check)
  liveCases(check)
  filterCases(check)
  checkpointCases(check)
  failureCases(check)
  snapshotCases(check)
  sideCases(check)
  refusalCases(check)
  hostileCases(check)
}

async function fill(docs: Docs, count: number, prefix = 'd'): Promise<void> {
  await docs.insert(Array.from({ length: count }, (_, n) => ({ _id: `${prefix}${n}`, n })))
}

async function ids(docs: Docs): Promise<string[]> {
  return (await docs.list().toArray()).map(({ id }) => id)
}

/** All leaves of all documents. */
async function leaves(docs: Docs): Promise<unknown> {
  const rows = await docs.changes({ style: 'all' }).toArray()
  const byId = rows.map(({ id, changes }) => [id, ...changes.map(({ rev }) => rev)] as const)
  return byId.sort(([left], [right]) => (left < right ? -1 : 1))
}

function eventsOf(replication: {
  subscribe(listener: (event: ReplicationEvent) => void): unknown
}): ReplicationEvent[] {
  const events: ReplicationEvent[] = []
  replication.subscribe((event) => events.push(event))
  return events
}

function directionCases(check: Case): void {
  check('push, pull and sync make collections equal, and tell how it went', async (here, there) => {
    await fill(here, 30)
    const pushed = await here.replicate({ to: there, batchSize: 7 })
    assertEqual([pushed.ok, pushed.status, pushed.docsRead, pushed.docsWritten], [true, 'complete', 30, 30])
    assertEqual([pushed.docsDenied, pushed.pending, pushed.changesChecked], [0, 0, 30])
    assertTrue(typeof pushed.lastSeq === 'string' && pushed.startTime <= pushed.endTime, 'the result has facts')
    await fill(there, 5, 'e')
    assertEqual((await here.replicate({ from: there })).docsWritten, 5)
    await here.put({ ...(await here.get('d1'))!, n: 100 })
    await there.delete('d2')
    const { parts } = await here.sync(there)
    assertEqual(
      parts.map(({ direction, status }) => `${direction} ${status}`),
      ['push complete', 'pull complete'],
    )
    assertEqual(await leaves(here), await leaves(there))
  })

  check('conflicts: both sides have the same winner and the same losers, and are told', async (here, there) => {
    await here.insert({ _id: 'a', by: 'here' })
    await there.insert({ _id: 'a', by: 'there' })
    const sync = here.sync(there)
    const events = eventsOf(sync)
    await sync
    assertTrue(
      events.some((event) => event.type === 'conflict' && event.id === 'a'),
      'there is an event',
    )
    assertEqual(await here.get('a', { conflicts: true }), await there.get('a', { conflicts: true }))
    assertEqual((await here.conflicts()).length, 1)
  })

  check('1,000 conflicting leaves', async (here, there) => {
    const revs = Array.from({ length: 1000 }, (_, n) => ({ _id: 'a', _rev: `1-${n}`, n }))
    await here.put(revs, { newEdits: false })
    await here.replicate({ to: there })
    assertEqual(await leaves(here), await leaves(there))
    assertEqual((await there.get('a'))?._rev, '1-999')
  })

  check(
    'attachments travel with their documents, and stay where they are when an edit keeps them',
    async (here, there) => {
      const content = new Uint8Array(300_000).map((_, at) => at % 253)
      await here.putAttachment('a', 'large', content, { contentType: 'image/png' })
      await here.putAttachment('a', 'small', new Blob(['small'], { type: 'text/plain' }))
      await here.replicate({ to: there })
      assertEqual(await (await there.getAttachment('a', 'large'))!.bytes(), content)
      assertEqual(await (await there.getAttachment('a', 'small'))!.text(), 'small')
      await here.put({ ...(await here.get('a'))!, title: 'edited' })
      await here.replicate({ to: there })
      assertEqual((await there.get('a'))?.['title'], 'edited')
      assertEqual(await here.get('a'), await there.get('a'))
    },
  )

  check('several collections as one', async (_here, _there, db) => {
    await fill(db.collection('x'), 3)
    await fill(db.collection('y'), 4)
    const sync = db.sync('https://couch.test', {
      collections: { x: db.collection('x2'), y: db.collection('y2') },
    })
    const result = await sync
    assertEqual([result.docsWritten, result.parts.length, sync.status], [7, 4, 'complete'])
    assertEqual(await ids(db.collection('y2')), await ids(db.collection('y')))
  })

  check('over HTTP: collections by name below a URL', async (here, there, db) => {
    await fill(there, 10)
    await here.insert({ _id: 'mine' })
    const fetch = couchFetch(db)
    await here.sync(URL_THERE, { fetch })
    assertEqual(await leaves(here), await leaves(there))
    const rejected = here.replicate({ to: 'https://couch.test/absent', fetch, create: false })
    await assertRejects(rejected, 'PANNIER_NOT_FOUND')
    await db.sync('https://couch.test/', { collections: ['new'], fetch })
    assertEqual(await ids(db.collection('new')), [])
  })

  check('wrong options reject with a TypeError', async (here, there) => {
    await assertRejects(here.replicate({ to: 'ftp://x/y' }), TypeError)
    await assertRejects(here.replicate({ to: 'no url' }), TypeError)
    await assertRejects(here.replicate({ to: there, batchSize: 0 }), TypeError)
    await assertRejects(here.replicate({ to: there, style: 'x' as 'all' }), TypeError)
    await assertRejects(here.replicate({ to: there, connectionsMax: 1 }), TypeError)
    await assertRejects(here.replicate({ to: there, filter: 'design/name' }), TypeError)
    await assertRejects(here.replicate({ to: there, checkpoint: 'x' as 'none' }), TypeError)
    await assertRejects(here.replicate({ to: there, selector: { n: { $wrong: 1 } } }), TypeError)
  })
}

function liveCases(check: Case): void {
  check('live: changes cross as they are made; it is paused when there are none', async (here, there) => {
    const sync = here.sync(there, { live: true })
    const events = eventsOf(sync)
    await eventually(() => sync.status === 'paused')
    await here.insert({ _id: 'a' })
    await there.insert({ _id: 'b' })
    await eventually(async () => (await there.get('a')) !== undefined && (await here.get('b')) !== undefined)
    await eventually(() => sync.status === 'paused')
    sync.cancel()
    const { status, docsWritten } = await sync
    assertEqual([status, docsWritten, sync.status], ['cancelled', 2, 'cancelled'])
    const types = new Set(events.map((event) => (event.type === 'status' ? event.status : event.type)))
    for (const type of ['active', 'paused', 'change', 'checkpoint', 'cancelled'] as const)
      assertTrue(types.has(type), `there is '${type}'`)
  })

  check('pause and resume', async (here, there) => {
    const push = here.replicate({ to: there, live: true })
    await eventually(() => push.status === 'paused')
    push.pause()
    await fill(here, 3)
    assertEqual(await ids(there), [])
    push.resume()
    await eventually(async () => (await ids(there)).length === 3)
    push.cancel()
    await push
  })

  check('a signal ends it with PANNIER_ABORTED', async (here, there) => {
    const stop = new AbortController()
    const push = here.replicate({ to: there, live: true, signal: stop.signal })
    stop.abort()
    await assertRejects(push, 'PANNIER_ABORTED')
    assertEqual(push.status, 'cancelled')
    await assertRejects(here.replicate({ to: there, signal: AbortSignal.abort() }), 'PANNIER_ABORTED')
  })

  check('events can be looped over, to the end', async (here, there) => {
    await fill(here, 3)
    const types: string[] = []
    for await (const event of here.replicate({ to: there })) types.push(event.type)
    assertTrue(types.at(-1) === 'status', 'the last one is the end')
  })

  check('without a network it waits for one', async (here, there, db) => {
    await fill(there, 3)
    const network = new SwitchedNetwork(false)
    const pull = here.replicate({ from: URL_THERE, fetch: couchFetch(db), live: true, network })
    await eventually(() => pull.status === 'offline')
    network.turn(true)
    await eventually(() => pull.status === 'paused' && pull.progress.docsWritten === 3)
    network.turn(false)
    await eventually(() => pull.status === 'offline')
    pull.cancel()
    await pull
    assertEqual(network.listeners.size, 0)
  })
}

function filterCases(check: Case): void {
  check('ids, selector, filter: only what they let through', async (here, _there, db) => {
    await fill(here, 10)
    await here.put({ _id: 'file', _attachments: { x: { data: '', contentType: 'text/x' } } })
    const hasText = (document: JsonObject): boolean =>
      (document as Stored<JsonObject>)._attachments?.['x']?.contentType === 'text/x'
    const cases = [
      [{ ids: ['d3', 'd5', 'x'] }, ['d3', 'd5']],
      [{ selector: { n: { $lt: 2 } } }, ['d0', 'd1']],
      [{ filter: ({ n }: JsonObject) => n === 7 }, ['d7']],
      [{ filter: hasText }, ['file']],
      [{ selector: { n: { $gt: 3 } }, ids: ['d1', 'd4'] }, ['d4']],
    ] as const
    for (const [at, [options, expected]] of cases.entries()) {
      await here.replicate({ to: db.collection(`local${at}`), ...options })
      assertEqual<readonly string[]>(await ids(db.collection(`local${at}`)), expected)
      const fetch = couchFetch(db)
      await db.collection<JsonObject>(`http${at}`).replicate({ from: 'https://couch.test/here', ...options, fetch })
      assertEqual<readonly string[]>(await ids(db.collection(`http${at}`)), expected)
    }
  })

  check('options of one direction', async (here, there) => {
    await fill(here, 3, 'h')
    await fill(there, 3, 't')
    await here.sync(there, { push: { ids: ['h1'] }, pull: { selector: { n: 2 } } })
    assertEqual(await ids(there), ['h1', 't0', 't1', 't2'])
    assertEqual(await ids(here), ['h0', 'h1', 'h2', 't2'])
  })

  check("a filter by name, a view and their parameters are the server's", async (here, there, db) => {
    await fill(there, 1)
    const asked: string[] = []
    const served = couchFetch(db)
    const fetch: typeof served = (url, init) => {
      const { pathname, searchParams } = new URL(url)
      if (pathname.endsWith('/_changes'))
        asked.push(['filter', 'view', 'min'].map((name) => searchParams.get(name)).join(' '))
      return served(url, init)
    }
    await here.replicate({ from: URL_THERE, fetch, filter: 'app/large', parameters: { min: '3' } })
    await here.replicate({ from: URL_THERE, fetch, view: 'app/people' })
    assertEqual(asked, ['app/large  3', '_view app/people '])
  })

  check('other filters begin anew, and go on by themselves', async (here, there) => {
    await fill(here, 10)
    await here.replicate({ to: there, selector: { n: 1 } })
    assertEqual((await here.replicate({ to: there, selector: { n: 2 } })).changesChecked, 1)
    assertEqual((await here.replicate({ to: there, selector: { n: 2 } })).changesChecked, 0)
    assertEqual((await here.replicate({ to: there })).docsWritten, 8)
  })

  check('style winner: conflicts stay behind; since: begins there', async (here, there, db) => {
    await here.put(
      [
        { _id: 'a', _rev: '1-a' },
        { _id: 'a', _rev: '1-b' },
      ],
      { newEdits: false },
    )
    await here.replicate({ to: there, style: 'winner' })
    assertEqual(await leaves(there), [['a', '1-b']])
    const { lastSeq } = await here.replicate({ to: there })
    await here.insert({ _id: 'new' })
    const other: Docs = db.collection('other')
    await here.replicate({ to: other, since: lastSeq })
    assertEqual(await ids(other), ['new'])
    assertEqual((await here.replicate({ to: db.collection('none'), since: 'now' })).docsWritten, 0)
  })
}

function checkpointCases(check: Case): void {
  const checkpointOf = async (docs: Docs): Promise<JsonObject> => {
    const [found] = await docs.local.list()
    assertDefined(found)
    return found
  }

  check('checkpoints have the form of CouchDB, on both sides, a history of five', async (here, there) => {
    for (let n = 0; n < 7; n++) {
      await fill(here, 1, `r${n}-`)
      await here.replicate({ to: there })
    }
    for (const side of [here, there]) {
      const { session_id, last_seq, source_last_seq, history, version } = await checkpointOf(side)
      assertEqual([last_seq, version], [source_last_seq, 1])
      const sessions = history as { session_id: string; recorded_seq: string }[]
      assertEqual([sessions.length, sessions[0]!.session_id, sessions[0]!.recorded_seq], [5, session_id, last_seq])
    }
    assertEqual((await here.replicate({ to: there })).changesChecked, 0)
  })

  check('one that is missing on either side: everything is compared again', async (here, there) => {
    await fill(here, 5)
    await here.replicate({ to: there })
    for (const side of [here, there]) {
      await side.local.delete((await checkpointOf(side))['_id'] as string)
      const { changesChecked, docsWritten } = await here.replicate({ to: there })
      assertEqual([changesChecked, docsWritten], [5, 0])
    }
  })

  check('one that is ahead or behind: the newest that both know', async (here, there) => {
    await fill(here, 5)
    await here.replicate({ to: there })
    const early = await checkpointOf(there)
    await fill(here, 5, 'e')
    await here.replicate({ to: there })
    // An old copy of the target was restored, with its replication checkpoint.
    const { _rev } = await checkpointOf(there)
    await there.purge('e1')
    await there.local.put({ ...early, _id: early['_id'] as string, _rev: _rev as string })
    const { changesChecked, docsWritten } = await here.replicate({ to: there })
    assertEqual([changesChecked, docsWritten], [5, 1])
    assertEqual(await leaves(here), await leaves(there))
  })

  check('killed between data and checkpoint: sent again, nothing changes', async (here, there) => {
    await fill(here, 5)
    await here.replicate({ to: there, checkpoint: 'none' })
    const before = await there.info()
    const { changesChecked, docsWritten } = await here.replicate({ to: there })
    assertEqual([changesChecked, docsWritten], [5, 0])
    assertEqual((await there.info()).lastSeq, before.lastSeq)
    for (const checkpoint of ['source', 'target'] as const) {
      await here.replicate({ to: there, checkpoint, ids: ['d1'] })
      assertEqual((await here.replicate({ to: there, checkpoint, ids: ['d1'] })).changesChecked, 0)
    }
  })

  check('a collection that was dropped and made anew is filled again', async (here, there, db) => {
    await fill(here, 5)
    await here.replicate({ to: there })
    await db.dropCollection('there')
    assertEqual((await here.replicate({ to: there })).docsWritten, 5)
    await db.dropCollection('here')
    assertEqual((await here.replicate({ from: there })).docsWritten, 5)
  })

  check('a server that is wiped while it is synced with is filled again', async (here, there, db) => {
    await fill(here, 5)
    const options = { fetch: couchFetch(db), live: true, checkpointIntervalMs: 1, backOff: () => 1 }
    const push = here.replicate({ to: URL_THERE, ...options })
    const events = eventsOf(push)
    // A request that comes between both would be answered 404, which ends the replication.
    // A replication checkpoint would be one of the new collection.
    await eventually(() => push.status === 'paused' && events.some(({ type }) => type === 'checkpoint'))
    await db.dropCollection('there')
    await there.local.put({ _id: 'made anew' })
    await here.insert({ _id: 'more' })
    await eventually(async () => (await ids(there)).length === 6)
    push.cancel()
    await push
  })

  check('how long it waits for the next try is told', async (here) => {
    const waits: unknown[] = []
    const sync = here.replicate({
      to: URL_THERE,
      fetch: () => Promise.reject(new TypeError('no connection')),
      live: true,
      backOff: (waitedMs) => (waitedMs === 0 ? 300 : 60_000),
    })
    sync.subscribe(
      (event) => void (event.type === 'status' && event.status === 'backing-off' && waits.push(event.waitMs)),
    )
    await eventually(() => waits.length === 2)
    const [first, second] = waits as [number, number]
    assertTrue(first >= 150 && first <= 300 && second >= 30_000 && second <= 60_000)
    assertEqual(sync.parts[0]!.waitMs, second)
    sync.cancel()
    await sync
  })
}

function failureCases(check: Case): void {
  check('a portal, 503, a connection that breaks, text that is cut off: tried again', async (here, there, db) => {
    await fill(there, 20)
    const faults: (() => Response)[] = [
      () => new Response('<html>log in</html>', { headers: { 'content-type': 'text/html' } }),
      () => new Response('{}', { status: 503, headers: { 'retry-after': '0' } }),
      () => new Response('{}', { status: 429 }),
      () => new Response('{"results":[', { status: 200 }),
      () => new Response('{"unexpected":true}', { status: 200 }),
      () => {
        throw new TypeError('Failed to fetch')
      },
    ]
    let calls = 0
    const intercept = (): Response | undefined => (++calls % 3 === 0 ? faults.shift()?.() : undefined)
    const options = { fetch: couchFetch(db, { intercept }), backOff: () => 1, batchSize: 5 }
    const [failed] = [await assertRejects(here.replicate({ from: URL_THERE, ...options }), 'PANNIER_PEER_UNREACHABLE')]
    assertTrue(failed instanceof Error)
    const pull = here.replicate({ from: URL_THERE, ...options, retry: true })
    const events = eventsOf(pull)
    assertEqual((await pull).status, 'complete')
    assertEqual(faults.length, 0)
    const waits = events.filter((event) => event.type === 'status' && event.status === 'backing-off')
    assertTrue(waits.length > 0, 'it has waited')
    assertEqual(await leaves(here), await leaves(there))
  })

  check('a connection that falls silent is given up', async (here, there, db) => {
    await fill(there, 3)
    let calls = 0
    let isSilent = true
    const served = couchFetch(db)
    const fetch: typeof served = (url, init) =>
      ++calls === 4 && isSilent
        ? new Promise((_resolve, reject) => {
            init.signal!.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
          })
        : served(url, init)
    await assertRejects(here.replicate({ from: URL_THERE, fetch, silenceMsMax: 20 }), 'PANNIER_PEER_UNREACHABLE')
    // On a slow machine an earlier call may have been given up.
    isSilent = false
    await here.replicate({ from: URL_THERE, fetch })
    assertEqual(await leaves(here), await leaves(there))
  })

  check('poison documents are told, the others go on', async (here, there, db) => {
    await fill(there, 20)
    const intercept = async (path: string, init: RequestInit): Promise<Response | undefined> => {
      if (path !== '_bulk_get') return undefined
      const { docs } = JSON.parse(init.body as string) as { docs: { id: string; rev: string }[] }
      const results = docs.map(({ id, rev }, at) => {
        const ok = { _id: id, _rev: rev, _revisions: { start: 1, ids: [rev.slice(2)] } }
        if (at === 3) return { id, docs: [{ error: { error: 'forbidden', reason: 'no', rev } }] }
        return { id, docs: [{ ok: at === 5 ? { ...ok, _reserved: 1 } : at === 7 ? { ...ok, _revisions: 1 } : ok }] }
      })
      return new Response(JSON.stringify({ results }))
    }
    const pull = here.replicate({ from: URL_THERE, fetch: couchFetch(db, { intercept }) })
    const events = eventsOf(pull)
    const { ok, docsWritten, docsDenied } = await pull
    assertEqual([ok, docsWritten, docsDenied], [false, 17, 3])
    const codes = events.flatMap((event) => (event.type === 'denied' ? [event.error.code] : []))
    assertEqual(codes.sort(), ['PANNIER_DOCUMENT_INVALID', 'PANNIER_DOCUMENT_INVALID', 'PANNIER_PEER_REFUSED'])
  })

  check('headers and credentials go with each request, and nowhere else', async (here, there, db) => {
    await fill(there, 1)
    const seen = new Set<string>()
    const intercept = (_path: string, init: RequestInit): undefined => {
      const headers = new Headers(init.headers)
      seen.add(`${headers.get('authorization')} ${headers.get('x-token')}`)
    }
    const fetch = couchFetch(db, { intercept })
    await here.replicate({ from: 'https://ann:pass@couch.test/there', fetch, headers: { 'x-token': 't' } })
    assertEqual([...seen], [`Basic ${btoa('ann:pass')} t`])
    // The same replication with a token continues where that one ended.
    const auth = { username: 'bob', password: 'x' }
    assertEqual((await here.replicate({ from: URL_THERE, fetch, auth })).changesChecked, 0)
  })
}

function snapshotCases(check: Case): void {
  check('a first pull loads a snapshot where one is offered, and goes on by the feed', async (here, there, db) => {
    await fill(there, 50)
    await there.delete('d3')
    await there.put(
      [
        { _id: 'c', _rev: '1-a' },
        { _id: 'c', _rev: '1-b' },
      ],
      { newEdits: false },
    )
    await there.putAttachment('d1', 'text', new Blob(['hello'], { type: 'text/plain' }))
    const paths: string[] = []
    const intercept = (path: string): undefined => void paths.push(path)
    const options = { fetch: couchFetch(db, { features: ['pannier-snapshot-2'], intercept }) }
    const first = await here.replicate({ from: URL_THERE, ...options })
    assertEqual([first.docsWritten, paths.includes('_bulk_get')], [51, false])
    assertEqual(await leaves(here), await leaves(there))
    assertEqual(await (await here.getAttachment('d1', 'text'))!.text(), 'hello')
    await there.insert({ _id: 'later' })
    assertEqual((await here.replicate({ from: URL_THERE, ...options })).changesChecked, 1)
  })

  check('a snapshot that is cut off is not taken for the whole', async (here, there, db) => {
    await fill(there, 50)
    let offered = 0
    const intercept = async (path: string): Promise<Response | undefined> => {
      if (path !== '_pannier/snapshot') return undefined
      offered++
      const text = await new Response(there.export({ format: 'replica' })).text()
      return new Response(text.slice(0, Math.floor(text.length / 2)))
    }
    const fetch = couchFetch(db, { features: ['pannier-snapshot-2'], intercept })
    await here.replicate({ from: URL_THERE, fetch, retry: true, backOff: () => 1 })
    assertEqual(await leaves(here), await leaves(there))
    assertTrue(offered >= 1, 'it was asked for')
  })
}
