/**
 * A server that means harm: its answers are endless, of any shape, or of what nobody asked for. What is promised: an error with a code, the
 * documents here as they were, bounded memory, and a replication with an honest server afterwards.
 */
import { isPannierError } from '../../src/base/errors.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { assertEqual, assertTrue } from '../check.ts'
import { couchFetch } from '../couch-fetch.ts'
import { seededRandom } from '../random.ts'
import type { Random } from '../random.ts'

type Docs = Collection<JsonObject>
type Case = (name: string, body: (here: Docs, there: Docs, db: Database) => Promise<void>) => void
type Answers = Readonly<Record<string, () => Response>>

const URL_THERE = 'https://couch.test/there'
const MEBIBYTE = 1024 * 1024
const REV = `1-${'a'.repeat(32)}`
const DEEP = '['.repeat(100_000) + ']'.repeat(100_000)
const SEEDS = 40

export function hostileCases(check: Case): void {
  for (const [name, answers, expected] of ATTACKS) {
    check(`a hostile server: ${name}`, async (here, there, db) => {
      await here.insert({ _id: 'mine', n: 1 })
      await there.insert({ _id: 'theirs', n: 1 })
      const mine = await here.get('mine')
      const intercept = async (path: string): Promise<Response | undefined> =>
        answers[Object.keys(answers).find((one) => path.startsWith(one)) ?? '']?.()
      const pull = here.replicate({ from: URL_THERE, fetch: couchFetch(db, { intercept }), retry: false })
      assertEqual(await outcomeOf(pull), expected)
      assertTrue(String(pull.error).length < 1000, 'the message is short')
      assertEqual(await here.get('mine'), mine)
      await goesOn(here, there, db)
    })
  }

  check(`a hostile server: ${SEEDS} answers with something else in the place of anything`, async (here, there, db) => {
    await here.insert({ _id: 'mine', n: 1 })
    await there.insert(Array.from({ length: 8 }, (_, n) => ({ _id: `t${n}`, n, a: { b: [1] } })))
    const mine = await here.get('mine')
    for (let seed = 1; seed <= SEEDS; seed++) {
      const outcome = await outcomeOf(
        here.sync(URL_THERE, { fetch: spoiltFetch(db, seed), batchSize: 3, retry: false }),
      )
      const isKnown = ['complete', 'PANNIER_PEER_UNREACHABLE', 'PANNIER_PEER_REFUSED'].includes(outcome)
      assertTrue(isKnown, `with seed ${seed} it ends as it may, not with ${outcome}`)
      assertEqual(await here.get('mine'), mine, `seed ${seed}`)
      assertTrue(!('polluted' in {}), `seed ${seed} changes no prototype`)
    }
    await goesOn(here, there, db)
  })
}

async function goesOn(here: Docs, there: Docs, db: Database): Promise<void> {
  await there.insert({ _id: 'honest' })
  assertEqual((await here.sync(URL_THERE, { fetch: couchFetch(db), retry: false })).status, 'complete')
  assertTrue((await here.get('honest')) !== undefined, 'an honest server is heard afterwards')
}

/** The status, or the code of the error. */
async function outcomeOf(replication: PromiseLike<{ readonly status: string }>): Promise<string> {
  try {
    return (await replication).status
  } catch (error) {
    return isPannierError(error) ? error.code : String(error)
  }
}

function said(text: string, status = 200): () => Response {
  return () => new Response(text, { status, headers: { 'content-type': 'application/json' } })
}

/** Blanks, which are good JSON as far as they go. Fails when more is read than may be. */
function endless(status = 200): () => Response {
  const blanks = new Uint8Array(MEBIBYTE).fill(32)
  return () => {
    let left = 140
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      if (left-- === 0) controller.error(new RangeError('more than 140 MiB were read'))
      else controller.enqueue(blanks)
    }
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status })
  }
}

const ROW = `{"id":"d","changes":[{"rev":"${REV}"}],"seq":1}`
const CHANGES = said(`{"results":[${ROW}],"last_seq":1}`)

function documents(...entries: readonly (readonly [id: string, document: string])[]): () => Response {
  return said(`{"results":[${entries.map(([id, ok]) => `{"id":"${id}","docs":[{"ok":${ok}}]}`).join(',')}]}`)
}

function withAttachment(length: string): () => Response {
  const stub = `{"content_type":"a/b","length":${length},"digest":"md5-${'A'.repeat(22)}==","stub":true,"revpos":1}`
  return documents(['d', `{"_id":"d","_rev":"${REV}","_attachments":{"f":${stub}}}`])
}

const ATTACKS: readonly (readonly [name: string, answers: Answers, outcome: string])[] = [
  ['an answer without an end', { _changes: endless() }, 'PANNIER_PEER_UNREACHABLE'],
  ['a refusal without an end', { _changes: endless(404) }, 'PANNIER_PEER_UNREACHABLE'],
  [
    'a refusal with long words',
    { _changes: said(JSON.stringify({ error: 'e'.repeat(MEBIBYTE), reason: 'r'.repeat(MEBIBYTE) }), 404) },
    'PANNIER_PEER_REFUSED',
  ],
  ['a page with status 200', { _: said('<html></html>') }, 'PANNIER_PEER_UNREACHABLE'],
  [
    'a long sequence',
    { _changes: said(`{"results":[],"last_seq":"${'s'.repeat(MEBIBYTE)}"}`) },
    'PANNIER_PEER_UNREACHABLE',
  ],
  ['a deep sequence', { _changes: said(`{"results":[],"last_seq":${DEEP}}`) }, 'PANNIER_PEER_UNREACHABLE'],
  [
    'a feed that does not go on',
    {
      _changes: said(`{"results":[${Array(1000).fill(ROW).join(',')}],"last_seq":1}`),
      _bulk_get: documents(['d', `{"_id":"d","_rev":"${REV}"}`]),
    },
    'PANNIER_PEER_UNREACHABLE',
  ],
  [
    'a deep document, which alone is denied',
    { _changes: CHANGES, _bulk_get: documents(['d', `{"_id":"d","_rev":"${REV}","a":${DEEP}}`]) },
    'complete',
  ],
  [
    'a revision of a document that was not asked for',
    {
      _changes: CHANGES,
      _bulk_get: documents(
        ['d', `{"_id":"d","_rev":"${REV}"}`],
        ['mine', `{"_id":"mine","_rev":"9-${'f'.repeat(32)}"}`],
      ),
    },
    'PANNIER_PEER_UNREACHABLE',
  ],
  // One document is denied, and stops no other.
  [
    'an attachment without an end',
    { _changes: CHANGES, _bulk_get: withAttachment('100000'), 'd/f': endless() },
    'complete',
  ],
  ['an attachment of less than nothing', { _changes: CHANGES, _bulk_get: withAttachment('-1') }, 'complete'],
  ['an attachment of half a byte', { _changes: CHANGES, _bulk_get: withAttachment('0.5') }, 'complete'],
]

const ANYTHING: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  '',
  '\ud800',
  '1-',
  `0-${'a'.repeat(32)}`,
  `9007199254740993-${'a'.repeat(32)}`,
  `1-${'z'.repeat(100_000)}`,
  '__proto__',
  'constructor',
  '_local/x',
  '_design/',
  '\0',
  [],
  [null],
  {},
  JSON.parse('{"__proto__":{"polluted":1}}'),
  Array(10_000).fill(0),
]
const SPOILT = ['', '_changes', '_bulk_get', '_local', '_revs_diff', '_bulk_docs']

/** An honest server, but some answers of one kind have something else in one place. */
function spoiltFetch(db: Database, seed: number): ReturnType<typeof couchFetch> {
  const random = seededRandom(seed)
  const honest = couchFetch(db)
  const kind = random.pick(SPOILT)
  return async (url, init) => {
    const response = await honest(url, init)
    const path = new URL(url).pathname.split('/')[2] ?? ''
    if (path !== kind || random.chance(0.3)) return response
    const answer = { answer: (await response.json()) as unknown }
    spoil(answer, random)
    return new Response(JSON.stringify(answer.answer), { status: response.status })
  }
}

function spoil(answer: object, random: Random): void {
  const [owner, name] = random.pick(placesIn(answer))
  const value = random.pick(ANYTHING)
  Object.defineProperty(owner, random.chance(0.1) ? '__proto__' : name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

function placesIn(value: unknown): (readonly [owner: object, name: string])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [[value, name] as const, ...placesIn(inner)])
}
