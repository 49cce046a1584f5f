/**
 * What every replication peer promises (replication/peer.ts), whatever is behind it. `create` gives a peer over a new, empty
 * database, which `writeRevisions` fills.
 */
import type {
  ChangesRequest,
  JsonDocument,
  PeerAttachment,
  PeerRevision,
  ReplicationPeer,
} from '../../src/replication/peer.ts'
import { assertDefined, assertEqual, assertRejects, assertTrue } from '../check.ts'
import type { SuiteContext } from '../suite.ts'

export interface PeerFixture {
  readonly peer: ReplicationPeer
  close(): Promise<void>
}

type Case = (name: string, body: (peer: ReplicationPeer) => Promise<void>) => void

export function replicationPeerSuite({ test, create }: SuiteContext<() => Promise<PeerFixture>>): void {
  const check: Case = (name, body) => {
    test(name, async () => {
      const { peer, close } = await create()
      try {
        await peer.identify(true, never())
        await body(peer)
      } finally {
        await close()
      }
    })
  }
  revisionCases(check)
  feedCases(check)
  otherCases(check)
}

function never(): AbortSignal {
  return new AbortController().signal
}

/** `ids`: the suffixes of the history, newest first. */
function revision(_id: string, ids: readonly string[], fields: object = {}): PeerRevision {
  const document = { _id, _rev: `${ids.length}-${ids[0]}`, _revisions: { start: ids.length, ids }, ...fields }
  return { document, attachments: undefined }
}

const HASHES = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(32))
const [A, B, C, D] = HASHES as [string, string, string, string]

function request(fields: Partial<ChangesRequest> = {}): ChangesRequest {
  return { since: undefined, limit: 100, wait: false, style: 'all', filter: {}, signal: never(), ...fields }
}

function revisionCases(check: Case): void {
  check('revisions that are written are known, read as they were, and no longer missing', async (peer) => {
    const written = await peer.writeRevisions([revision('a', [B, A], { n: 1 }), revision('b', [C], { n: 2 })], never())
    assertEqual(written.failures, [])
    const asked = new Map([
      ['a', [`2-${B}`, `2-${D}`]],
      ['b', [`1-${C}`]],
      ['c', [`1-${A}`]],
    ])
    const missing = await peer.missingRevisions(asked, never())
    assertEqual(Object.fromEntries(missing), { a: [`2-${D}`], c: [`1-${A}`] })
    const { revisions, failures } = await peer.readRevisions([{ id: 'a', rev: `2-${B}` }], never())
    assertEqual(failures, [])
    assertEqual<JsonDocument[]>(
      revisions.map(({ document }) => document),
      [{ _id: 'a', _rev: `2-${B}`, n: 1, _revisions: { start: 2, ids: [B, A] } }],
    )
  })

  check('writing again changes nothing', async (peer) => {
    const one = revision('a', [A], { n: 1 })
    await peer.writeRevisions([one], never())
    const before = await peer.readChanges(request())
    assertEqual((await peer.writeRevisions([one], never())).failures, [])
    assertEqual(await peer.readChanges(request()), before)
  })

  check('conflicts and tombstones', async (peer) => {
    await peer.writeRevisions([revision('a', [A], { n: 1 }), revision('a', [B], { n: 2 })], never())
    await peer.writeRevisions([revision('b', [B, A], { _deleted: true })], never())
    const { changes } = await peer.readChanges(request())
    const revs = Object.fromEntries(changes.map((change) => [change.id, [...change.revs].sort()]))
    assertEqual(revs, { a: [`1-${A}`, `1-${B}`], b: [`2-${B}`] })
    const { revisions } = await peer.readRevisions([{ id: 'b', rev: `2-${B}` }], never())
    assertEqual(revisions[0]?.document['_deleted'], true)
  })

  check('a revision that was replaced gives the one that took its place', async (peer) => {
    await peer.writeRevisions([revision('a', [A], { n: 1 })], never())
    await peer.writeRevisions([revision('a', [B, A], { n: 2 })], never())
    const { revisions } = await peer.readRevisions([{ id: 'a', rev: `1-${A}` }], never())
    assertEqual(
      revisions.map(({ document }) => document._rev),
      [`2-${B}`],
    )
  })

  check('attachments, small and large, with names of all kinds', async (peer) => {
    const contents = new Map([
      ['tiny.txt', bytes(3)],
      ['dir/ü large', bytes(400_000)],
    ])
    const attachments = new Map([...contents].map(([name, content]) => [name, attachment(content)]))
    const { document } = revision('with/slash', [A])
    assertEqual((await peer.writeRevisions([{ document, attachments }], never())).failures, [])
    const { revisions } = await peer.readRevisions([{ id: 'with/slash', rev: `1-${A}` }], never())
    const found = revisions[0]?.attachments
    assertDefined(found)
    assertEqual([...found.keys()].sort(), [...contents.keys()].sort())
    for (const [name, content] of contents) {
      const { length, contentType, open } = found.get(name)!
      assertEqual([length, contentType], [content.length, 'application/x-test'])
      assertEqual(new Uint8Array(await new Response(await open(never())).arrayBuffer()), content)
    }
  })
}

function feedCases(check: Case): void {
  check('the feed in pages: each document once, in the order of its last change', async (peer) => {
    for (const id of ['a', 'b', 'c']) await peer.writeRevisions([revision(id, [A])], never())
    await peer.writeRevisions([revision('a', [B, A])], never())
    const ids: string[] = []
    let since: unknown
    for (let ended = false; !ended;) {
      const page = await peer.readChanges(request({ since, limit: 2 }))
      ids.push(...page.changes.map(({ id }) => id))
      ;({ lastSeq: since, ended } = page)
    }
    assertEqual(ids, ['b', 'c', 'a'])
    assertEqual((await peer.readChanges(request({ since }))).changes, [])
  })

  check('a feed that waits tells of the next change', async (peer) => {
    await peer.writeRevisions([revision('a', [A])], never())
    const { lastSeq } = await peer.readChanges(request())
    const waiting = peer.readChanges(request({ since: lastSeq, wait: true }))
    await peer.writeRevisions([revision('b', [A])], never())
    assertEqual(
      (await waiting).changes.map(({ id }) => id),
      ['b'],
    )
  })

  check('a signal ends a wait', async (peer) => {
    const { lastSeq } = await peer.readChanges(request())
    const stop = new AbortController()
    const waiting = peer.readChanges(request({ since: lastSeq, wait: true, signal: stop.signal }))
    stop.abort()
    await assertRejects(waiting, 'PANNIER_ABORTED')
  })

  check('ids, selector and functions filter', async (peer) => {
    const all = ['a', 'b', 'c', 'd'].map((id, n) => revision(id, [A], { n }))
    await peer.writeRevisions(all, never())
    const ids = async (filter: ChangesRequest['filter']): Promise<string[]> =>
      (await peer.readChanges(request({ filter }))).changes.map(({ id }) => id)
    assertEqual(await ids({ ids: ['d', 'a', 'x'] }), ['a', 'd'])
    assertEqual(await ids({ selector: { n: { $gte: 2 } } }), ['c', 'd'])
    assertEqual(await ids({ accept: ({ n }: { n?: number }) => n === 1 }), ['b'])
  })
}

function otherCases(check: Case): void {
  check('the identity stays', async (peer) => {
    const identity = await peer.identify(false, never())
    assertTrue(identity.length > 0)
    await peer.writeRevisions([revision('a', [A])], never())
    assertEqual(await peer.identify(false, never()), identity)
  })

  check('local documents have revisions, and are in no feed', async (peer) => {
    assertEqual(await peer.getLocal('mark', never()), undefined)
    const rev = await peer.putLocal('mark', { n: 1 }, never())
    assertEqual((await peer.getLocal('mark', never()))?.['n'], 1)
    await peer.putLocal('mark', { n: 2, _rev: rev }, never())
    assertEqual((await peer.getLocal('mark', never()))?.['n'], 2)
    await assertRejects(peer.putLocal('mark', { n: 3, _rev: rev }, never()), 'PANNIER_CONFLICT')
    await assertRejects(peer.putLocal('mark', { n: 3 }, never()), 'PANNIER_CONFLICT')
    assertEqual((await peer.readChanges(request())).changes, [])
  })

  check('an aborted signal is heeded by all', async (peer) => {
    const signal = AbortSignal.abort()
    await assertRejects(peer.identify(true, signal), 'PANNIER_ABORTED')
    await assertRejects(peer.missingRevisions(new Map([['a', [`1-${A}`]]]), signal), 'PANNIER_ABORTED')
    await assertRejects(peer.writeRevisions([revision('a', [A])], signal), 'PANNIER_ABORTED')
    await assertRejects(peer.getLocal('mark', signal), 'PANNIER_ABORTED')
    assertEqual((await peer.readChanges(request())).changes, [])
  })
}

function bytes(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, at) => (at * 7) % 251)
}

function attachment(content: Uint8Array<ArrayBuffer>): PeerAttachment {
  const open = async (): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> => new Response(content).body!
  return { contentType: 'application/x-test', revpos: 1, digest: undefined, length: content.length, open }
}
