/**
 * A first replication by snapshot over a connection that damages bytes: whatever is flipped, cut out, doubled, moved or missing, in the
 * end the target has what the source has, nothing else, and says so.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import type { Collection, Database, JsonObject } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { couchFetch } from '../../testing/couch-fetch.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Random } from '../../testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const seeds = seedsOf('crash', 3)
const features = ['pannier-snapshot-2']

let source: Database
let docs: Collection<JsonObject>
let snapshot: Uint8Array
let expected: string

beforeAll(async () => {
  source = await open('source', { storage: memory() })
  docs = source.collection('docs')
  await docs.insert(Array.from({ length: 300 }, (_, n) => ({ _id: `d${n}`, n, s: `value-${n}`, pad: 'ä'.repeat(n) })))
  await docs.delete('d3')
  await docs.put(
    [
      { _id: 'c', _rev: '1-a', from: 'here' },
      { _id: 'c', _rev: '1-b', from: 'there' },
    ],
    { newEdits: false },
  )
  await docs.putAttachment('d1', 'text', new Blob(['hello'], { type: 'text/plain' }))
  snapshot = new Uint8Array(await new Response(docs.export({ format: 'replica' })).arrayBuffer())
  expected = await contentOf(docs)
})

afterAll(() => source.close())

/** Every leaf revision with its content. */
async function contentOf(collection: Collection<JsonObject>): Promise<string> {
  const rows = await collection.changes({ style: 'all' }).toArray()
  const names = rows.flatMap(({ id, changes }) => changes.map(({ rev }) => ({ id, rev })))
  const order = names.sort((left, right) => (left.id + left.rev < right.id + right.rev ? -1 : 1))
  const leaves = await Promise.all(
    order.map(({ id, rev }) => collection.getRevisions(id, [rev], { revs: true, attachments: 'base64' })),
  )
  return JSON.stringify(leaves)
}

async function replica(bytes: Uint8Array): Promise<{ docsWritten: number; content: string; asked: Set<string> }> {
  const db = await open('target', { storage: memory() })
  const asked = new Set<string>()
  const intercept = (path: string): Response | undefined => {
    asked.add(path)
    return path === '_pannier/snapshot' ? new Response(bytes as Uint8Array<ArrayBuffer>) : undefined
  }
  const target = db.collection('docs')
  const url = 'https://couch.test/docs'
  const first = await target.replicate({ from: url, fetch: couchFetch(source, { features, intercept }) })
  expect(first).toMatchObject({ ok: true, docsDenied: 0 })
  const content = await contentOf(target)
  expect((await target.replicate({ from: url, fetch: couchFetch(source) })).docsWritten).toBe(0)
  await db.close()
  return { docsWritten: first.docsWritten, content, asked }
}

function damage(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice()
  const at = random.below(copy.length)
  const to = Math.min(copy.length, at + 1 + random.below(random.pick([1, 8, 200, 70_000])))
  switch (random.below(6)) {
    case 0:
      copy[at]! ^= 1 << random.below(8)
      return copy
    case 1:
      for (let flips = 1 + random.below(5); flips > 0; flips--)
        copy[random.below(copy.length)]! ^= 1 + random.below(255)
      return copy
    case 2:
      return copy.slice(0, at)
    case 3:
      return concat(copy.subarray(0, at), copy.subarray(to))
    case 4:
      return concat(copy.subarray(0, to), copy.subarray(at))
    default:
      copy.copyWithin(random.below(copy.length), at, to)
      return copy
  }
}

function concat(left: Uint8Array, right: Uint8Array): Uint8Array {
  const whole = new Uint8Array(left.length + right.length)
  whole.set(left)
  whole.set(right, left.length)
  return whole
}

test('a whole snapshot is all that is asked for', async () => {
  const { docsWritten, content, asked } = await replica(snapshot)
  expect([docsWritten, content, asked.has('_bulk_get')]).toEqual([301, expected, false])
})

for (const seed of seeds) {
  test(`a damaged snapshot, seed ${seed} (SEED=${seed})`, async () => {
    const { content } = await replica(damage(snapshot, seededRandom(seed)))
    expect(content).toBe(expected)
  })
}

test('documents of a snapshot that the target does not take are neither counted as written nor passed by', async () => {
  const db = await open('target', { storage: memory() })
  const target = { collection: db.collection('docs'), admit }
  let refuses = true
  async function admit(documents: readonly JsonObject[]): Promise<JsonObject[]> {
    const { PannierError } = await import('../../src/index.ts')
    const refused = new PannierError('PANNIER_PEER_REFUSED', 'not now')
    return documents.map((one) => (refuses && one['_id'] === 'd7' ? (refused as never) : one))
  }
  const side = { url: 'https://couch.test/docs', fetch: couchFetch(source, { features }) }
  const replication = db.replicate({ from: side, to: target })
  replication.subscribe((event) => {
    if (event.type === 'change') refuses = false
  })
  expect(await replication).toMatchObject({ ok: true, docsWritten: 301, docsDenied: 0 })
  expect(await contentOf(db.collection('docs'))).toBe(expected)
  await db.close()
})
