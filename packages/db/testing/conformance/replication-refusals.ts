/**
 * What is refused: for good, which ends a replication and stays its status, or of one document, which keeps no other from the
 * target. The peers refuse in the ways of CouchDB, of proxies before it, and of Pannier's own server.
 */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import type { ReplicationEvent } from '../../src/replication/types.ts'
import { assertEqual, assertRejects, assertTrue } from '../check.ts'
import { couchFetch } from '../couch-fetch.ts'
import { SwitchedNetwork } from '../switched-network.ts'
import { aMoment, eventually } from '../suite.ts'

type Docs = Collection<JsonObject>
type Case = (name: string, body: (here: Docs, there: Docs, db: Database) => Promise<void>) => void

const URL_THERE = 'https://couch.test/there'

export function refusalCases(check: Case): void {
  unsentCases(check)
  finalCases(check)
  documentCases(check)
}

function finalCases(check: Case): void {
  for (const path of ['_bulk_get', '_bulk_docs', '_revs_diff', '_changes']) {
    check(`a sync that is refused for good at ${path} has failed, and stays so`, async (here, there, db) => {
      await here.insert(Array.from({ length: 30 }, (_, n) => ({ _id: `h${n}` })))
      await there.insert(Array.from({ length: 30 }, (_, n) => ({ _id: `t${n}` })))
      let refuses = false
      const intercept = async (asked: string): Promise<Response | undefined> => {
        if (asked.startsWith(path) && refuses) return refusal(403, 'forbidden')
        // Answers overlap: what was asked before may be answered after the refusal.
        for (let wait = 0; wait < 3; wait++) await aMoment()
        return undefined
      }
      const options = { fetch: couchFetch(db, { intercept }), live: true, batchSize: 2, checkpointIntervalMs: 1 }
      const sync = here.sync(URL_THERE, options)
      const after: ReplicationEvent[] = []
      const ended = new Set<string>()
      sync.subscribe((event) => {
        if (event.type === 'change') refuses = true
        if (ended.has(event.direction)) after.push(event)
        if (event.type === 'status' && event.status === 'failed') ended.add(event.direction)
      })
      await assertRejects(sync, 'PANNIER_PEER_REFUSED')
      for (let wait = 0; wait < 20; wait++) await aMoment()
      assertEqual([sync.status, after], ['failed', []])
      assertTrue(sync.error === sync.parts.find(({ status }) => status === 'failed')?.error, 'the handle has the error')
      const failed = sync.parts.filter(({ status }) => status === 'failed')
      assertTrue(failed.length > 0, 'a part has failed')
      assertEqual(
        failed.map(({ error }) => error?.code),
        failed.map(() => 'PANNIER_PEER_REFUSED' as const),
      )
      const others = sync.parts.filter(({ status }) => status !== 'failed')
      assertEqual(
        others.map(({ status }) => status),
        others.map(() => 'cancelled'),
      )
    })
  }

  check('a replication that could not begin has failed', async (here) => {
    const sync = here.replicate({ to: 'no url' })
    await assertRejects(sync, TypeError)
    assertEqual(sync.status, 'failed')
  })

  check('what an attempt left under way changes nothing while the next one is waited for', async (here, there, db) => {
    await there.insert(Array.from({ length: 30 }, (_, n) => ({ _id: `t${n}` })))
    const intercept = async (asked: string): Promise<Response | undefined> => {
      if (asked === '_bulk_get') return refusal(503, 'busy')
      for (let wait = 0; wait < 3; wait++) await aMoment()
      return undefined
    }
    const options = { fetch: couchFetch(db, { intercept }), live: true, batchSize: 2, backOff: () => 60_000 }
    const pull = here.replicate({ from: URL_THERE, ...options })
    await eventually(() => pull.status === 'backing-off')
    for (let wait = 0; wait < 30; wait++) await aMoment()
    assertEqual([pull.status, pull.parts[0]!.error?.code], ['backing-off', 'PANNIER_PEER_UNREACHABLE'])
    pull.cancel()
    await pull
  })
}

function unsentCases(check: Case): void {
  check('what is not sent is counted, offline too, and after a new start', async (here, there, db) => {
    const network = new SwitchedNetwork(true)
    const options = { fetch: couchFetch(db), live: true, checkpointIntervalMs: 1, network }
    await here.insert([{ _id: 'a' }, { _id: 'b' }])
    network.turn(false)
    const first = here.sync(URL_THERE, options)
    assertEqual(await first.unsent(), 2)
    network.turn(true)
    await eventually(async () => (await first.unsent()) === 0)
    assertEqual((await there.info()).documents, 2)
    await eventually(async () => (await here.local.list()).length === 2)
    network.turn(false)
    await eventually(() => first.status === 'offline')
    await here.insert([{ _id: 'c' }, { _id: 'd' }, { _id: 'e' }])
    await here.delete('a')
    assertEqual(await first.unsent(), 4)
    first.cancel()
    await first
    const second = here.sync(URL_THERE, options)
    assertEqual(await second.unsent(), 4)
    // In a browser it waits first until it leads among the tabs.
    await eventually(() => second.status === 'offline')
    assertEqual(await here.replicate({ from: URL_THERE, ...options, live: false, network: undefined }).unsent(), 0)
    network.turn(true)
    await eventually(async () => (await second.unsent()) === 0)
    assertEqual((await there.info()).documents, 4)
    second.cancel()
    await second
  })
}

/** Refuses whatever has the document that is named poison. */
function refusing(paths: readonly string[], status: number) {
  return async (path: string, init: RequestInit): Promise<Response | undefined> => {
    const text = typeof init.body === 'string' ? init.body : `${path}`
    return paths.some((one) => path.startsWith(one)) && text.includes('poison') ? refusal(status, 'bad') : undefined
  }
}

function documentCases(check: Case): void {
  const ways: readonly (readonly [readonly string[], number])[] = [
    [['_revs_diff', '_bulk_docs'], 400],
    [['_revs_diff'], 413],
    [['_bulk_docs'], 413],
    [['_revs_diff', '_bulk_docs'], 414],
    [['_bulk_docs'], 400],
  ]
  for (const [paths, status] of ways) {
    check(
      `a target that answers ${status} at ${paths.join()} for one document takes all others`,
      async (here, there, db) => {
        await here.insert(Array.from({ length: 40 }, (_, n) => ({ _id: n === 17 ? 'poison' : `d${n}`, n })))
        const fetch = couchFetch(db, { intercept: refusing(paths, status) })
        const push = here.replicate({ to: URL_THERE, fetch })
        const denied: string[] = []
        push.subscribe((event) => void (event.type === 'denied' && denied.push(event.id)))
        const { ok, status: end, docsWritten } = await push
        const expected = paths.includes('_bulk_docs') ? ['poison'] : []
        assertEqual([ok, end, docsWritten, denied], [expected.length === 0, 'complete', 40 - expected.length, expected])
        assertEqual((await there.info()).documents, 40 - expected.length)
        assertEqual((await here.replicate({ to: URL_THERE, fetch })).changesChecked, 0)
      },
    )
  }

  for (const status of [400, 413, 414]) {
    check(`a source that answers ${status} to _bulk_get for one document gives all others`, async (here, there, db) => {
      await there.insert(Array.from({ length: 40 }, (_, n) => ({ _id: n === 17 ? 'poison' : `d${n}`, n })))
      const single = async (path: string, init: RequestInit): Promise<Response | undefined> => {
        if (path === '_bulk_get') return refusing(['_bulk_get'], status)(path, init)
        if (path === 'poison') return refusal(status, 'bad')
        if (!/^d\d+$/.test(path)) return undefined
        const [found] = await there.bulkGet([{ id: path }], { revs: true })
        return new Response(JSON.stringify([found]))
      }
      const { ok, docsWritten, docsDenied } = await here.replicate({
        from: URL_THERE,
        fetch: couchFetch(db, { intercept: single }),
      })
      assertEqual([ok, docsWritten, docsDenied], [false, 39, 1])
    })
  }
}

function refusal(status: number, error: string): Response {
  return new Response(JSON.stringify({ error, reason: 'It was refused.' }), { status })
}
