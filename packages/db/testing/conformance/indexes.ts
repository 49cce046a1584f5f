/** Conformance of partial, unique and text indexes on every storage. */
import type { Database } from '../../src/database/database.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { lengthCode, lengthOf } from '../../src/index/text/text-entries.ts'
import { foldWord, WORD_CHARS_MAX, wordFinder } from '../../src/index/text/words.ts'
import { assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { naiveSearch } from '../naive-search.ts'
import { seededRandom, type Random } from '../random.ts'
import type { SuiteContext } from '../suite.ts'
import { checkedCases, type CheckedCase } from './database-cases.ts'

export function indexSuite({ test, create }: SuiteContext<() => Promise<Database>>): void {
  const check = checkedCases({ test, create })
  partialCases(check)
  uniqueCases(check)
  replicatedCases(check)
  textCases(check)
  for (let seed = 1; seed <= 6; seed++) {
    check(`random searches agree with a naive BM25 (seed ${seed})`, (db) => checkRandomSearches(db, seed))
  }
}

function partialCases(check: CheckedCase): void {
  check('a partial index follows documents in and out', async (db) => {
    const people = db.collection('people', { indexes: [{ on: 'age', where: { active: true } }] })
    await people.insert(Array.from({ length: 100 }, (_, n) => ({ _id: `p${n}`, age: n, active: n % 4 === 0 })))
    const active = people.find({ active: true, age: { $gte: 50 } })
    assertEqual(await active.count(), 12)
    assertEqual([(await active.explain()).rows, (await active.explain()).rowsExact], [12, true])
    await people.update('p52', (person) => ({ ...person, active: false }))
    await people.update(['p51', 'p53'], (person) => ({ ...person, active: true }))
    await people.delete('p56')
    assertEqual(await active.count(), 12)
    const [index] = await people.indexes()
    assertEqual(index!.where, { active: true })
    // Not implied: all documents.
    assertEqual((await people.find({ age: { $gte: 50 } }).explain()).plan.step, 'filter')
    assertEqual(await people.find({ age: { $gte: 50 } }).count(), 49)
    const either = people.find({ active: true, $or: [{ age: 4 }, { age: 8 }] })
    assertEqual([await either.count(), (await either.explain()).rowsExact], [2, true])
  })

  check('a partial index is built on documents that are there', async (db) => {
    const people = db.collection('people')
    await people.insert(Array.from({ length: 300 }, (_, n) => ({ _id: `p${n}`, name: `n${n}`, tags: [n % 3, 'x'] })))
    db.collection('people', {
      indexes: [
        { on: 'name', where: { name: { $regex: '^n(1|2)+$' } } },
        { on: 'tags', multi: true, where: { name: { $gt: 'n2' } } },
      ],
    })
    await people.ready()
    await people.update('p12', (person) => ({ ...person, name: 'n3' }))
    const found = people.find({ name: { $regex: '^n(1|2)+$' } })
    assertEqual([await found.count(), (await found.explain()).rowsExact], [13, true])
  })

  check('selectors of indexes are checked', async (db) => {
    for (const where of [5, [], { age: { $foo: 1 } }, { _rev: 'x' }] as never[]) {
      assertThrows(() => db.collection('x', { indexes: [{ on: 'age', where }] }), TypeError)
    }
    db.collection('x', { indexes: [{ on: 'age', name: 'age', where: { a: 1 } }] })
    assertThrows(() => db.collection('x', { indexes: [{ on: 'age', name: 'age', where: { a: 2 } }] }), MISMATCH)
    assertThrows(() => db.collection('x', { indexes: [{ on: 'age', text: true, unique: true }] }), TypeError)
    assertThrows(() => db.collection('x', { indexes: [{ on: 'age', language: 'de' }] }), TypeError)
  })
}

const MISMATCH = 'PANNIER_INDEX_MISMATCH'
const UNIQUE = 'PANNIER_NOT_UNIQUE'

function uniqueCases(check: CheckedCase): void {
  check('no two documents have one key', async (db) => {
    const users = db.collection('users', { indexes: [{ on: 'email', unique: true }] })
    await users.insert([{ _id: 'a', email: 'x' }, { _id: 'b', email: 'y' }, { _id: 'c' }, { _id: 'd' }])
    const error = (await assertRejects(users.insert({ _id: 'e', email: 'x' }), UNIQUE)) as { details: unknown }
    assertEqual(error.details, { id: 'e', index: 'email', key: ['x'], other: 'a' })
    await assertRejects(
      users.insert([
        { _id: 'f', email: 'z' },
        { _id: 'g', email: 'z' },
      ]),
      UNIQUE,
    )
    await assertRejects(
      users.update('b', (user) => ({ ...user, email: 'x' })),
      UNIQUE,
    )
    assertEqual(await users.find({}).count(), 4)
    // What a batch frees may be taken in it.
    await users.upsert([
      { _id: 'a', email: 'y' },
      { _id: 'b', email: 'x' },
    ])
    await users.delete('a')
    await users.insert({ _id: 'h', email: 'y' })
    await users.insert([
      { _id: 'i', email: null },
      { _id: 'j', email: 1 },
      { _id: 'k', email: '1' },
    ])
    await assertRejects(users.insert({ email: null }), UNIQUE)
  })

  check('a batch that is not all or nothing loses only what is refused', async (db) => {
    const users = db.collection('users', { indexes: [{ on: 'email', unique: true }] })
    const written = await users.insert(
      ['x', 'y', 'x', 'z', 'y'].map((email, at) => ({ _id: `u${at}`, email })),
      { atomic: false },
    )
    const failed = written.map((one) => ('error' in one ? one.error.code : undefined))
    assertEqual(failed, [undefined, undefined, UNIQUE, undefined, UNIQUE])
    // u0 keeps its key as its own change is refused, so nobody else gets it.
    const changed = await users.upsert(
      [
        { _id: 'u0', email: 'z' },
        { _id: 'u9', email: 'x' },
        { _id: 'u1', email: 'w' },
      ],
      { atomic: false },
    )
    assertEqual(
      changed.map((one) => 'error' in one),
      [true, true, false],
    )
    assertEqual(
      (await users.find({}).sort('email').toArray()).map(({ email }) => email),
      ['w', 'x', 'z'],
    )
  })

  check('compound, partial and multi indexes are unique in their way', async (db) => {
    const seats = db.collection('seats', {
      indexes: [
        { on: ['row', '-seat'], unique: true },
        { on: 'guest', unique: true, where: { cancelled: false } },
        { on: 'codes', unique: true, multi: true },
      ],
    })
    await seats.insert([
      { _id: 'a', row: 1, seat: 1, guest: 'ann', cancelled: true },
      { _id: 'b', row: 1, seat: 2, guest: 'ann', cancelled: false, codes: [1, 2] },
      { _id: 'c', row: 1, guest: 'ann', codes: [] },
      { _id: 'd', row: 1, codes: [3, 3] },
    ])
    await assertRejects(seats.insert({ row: 1, seat: 2 }), UNIQUE)
    await assertRejects(
      seats.update('a', (seat) => ({ ...seat, cancelled: false })),
      UNIQUE,
    )
    await assertRejects(seats.insert({ codes: [5, 2] }), UNIQUE)
    await seats.update('b', (seat) => ({ ...seat, cancelled: true, codes: [2, 9] }))
    await seats.update('a', (seat) => ({ ...seat, cancelled: false, codes: [1] }))
  })

  check('values that are too long for a key are compared whole', async (db) => {
    const long = 'x'.repeat(5000)
    const pages = db.collection('pages', { indexes: [{ on: 'url', unique: true }] })
    await pages.insert([
      { _id: 'a', url: `${long}a` },
      { _id: 'b', url: `${long}b` },
    ])
    await assertRejects(pages.insert({ url: `${long}b` }), UNIQUE)
    await assertRejects(pages.insert([{ url: `${long}c` }, { url: `${long}c` }]), UNIQUE)
    await pages.upsert([
      { _id: 'a', url: `${long}b` },
      { _id: 'b', url: `${long}a` },
    ])
    await assertRejects(
      pages.update('a', (page) => ({ ...page, url: `${long}a` })),
      UNIQUE,
    )
    await pages.update('a', (page) => ({ ...page, url: `${long}d` }))
  })

  check('inside a transaction a refused write changes nothing', async (db) => {
    db.collection('users', { indexes: [{ on: 'email', unique: true }] })
    await db.transaction(async (tx) => {
      const users = tx.collection('users')
      await assertRejects(users.insert([{ email: 'x' }, { email: 'x' }]), UNIQUE)
      await users.insert({ _id: 'a', email: 'x' })
      await assertRejects(users.insert([{ email: 'q' }, { email: 'x' }]), UNIQUE)
      await users.insert({ _id: 'b', email: 'q' })
    })
    assertEqual(await db.collection('users').find({}).count(), 2)
  })

  check('writers at the same time: one of them gets the key', async (db) => {
    const users = db.collection('users', { indexes: [{ on: 'name', unique: true }] })
    await users.insert({ name: 'first' })
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, at) => users.insert({ _id: `u${at}`, name: `n${at % 20}` })),
    )
    assertEqual(results.filter(({ status }) => status === 'fulfilled').length, 20)
    assertEqual(await users.find({}).count(), 21)
  })

  check('an index that documents stand in the way of is not built', async (db) => {
    const users = db.collection('users')
    await users.insert(Array.from({ length: 50 }, (_, at) => ({ _id: `u${at}`, email: at % 45, name: at })))
    db.collection('users', { indexes: [{ on: 'email', unique: true }, 'name'] })
    const error = (await assertRejects(users.ready(), UNIQUE)) as { details: Record<string, unknown> }
    assertEqual((error.details['duplicates'] as unknown[])[0], { key: [0], ids: ['u0', 'u45'] })
    assertEqual(
      (await users.indexes()).map(({ name, ready }) => [name, ready]),
      [['name', true]],
    )
    await users.delete(['u45', 'u46', 'u47', 'u48', 'u49'])
    assertEqual(await users.dropIndex('email'), false)
    db.collection('users', { indexes: [{ on: 'email', unique: true }] })
    await users.ready()
    await assertRejects(users.insert({ email: 7 }), UNIQUE)
  })
}

function replicatedCases(check: CheckedCase): void {
  check('what replication brings is taken up, and told', async (db) => {
    const users = db.collection('users', { indexes: [{ on: 'email', unique: true }] })
    await users.insert({ _id: 'a', email: 'x', age: 1 })
    await users.put({ _id: 'b', _rev: '1-b', email: 'x' }, { newEdits: false })
    assertEqual(await users.duplicates('email'), [{ key: ['x'], ids: ['a', 'b'] }])
    // The owner of the key may change; others still can't get it.
    await users.update('a', (user) => ({ ...user, age: 2 }))
    await assertRejects(users.insert({ _id: 'c', email: 'x' }), UNIQUE)
    await users.update('b', (user) => ({ ...user, email: 'y' }))
    assertEqual(await users.duplicates('email'), [])
    await assertRejects(users.duplicates('age'), 'PANNIER_NOT_FOUND')
  })

  check('a conflict that is resolved is an edit', async (db) => {
    const users = db.collection('users', { indexes: [{ on: 'email', unique: true }] })
    await users.insert([
      { _id: 'a', email: 'x' },
      { _id: 'b', email: 'y' },
    ])
    await users.put({ _id: 'b', _rev: '1-0', email: 'x' }, { newEdits: false })
    await assertRejects(
      users.resolve('b', () => ({ _id: 'b', email: 'x' })),
      UNIQUE,
    )
    await users.resolve('b', () => ({ _id: 'b', email: 'z' }))
    assertEqual(await users.duplicates('email'), [])
  })
}

function textCases(check: CheckedCase): void {
  check('words are found whatever their case and diacritics, best first', async (db) => {
    const posts = db.collection('posts', { indexes: [{ on: ['title', 'body'], text: true }] })
    await posts.insert([
      { _id: 'a', title: 'The quick brown fox', body: 'Über den Wolken', n: 1 },
      { _id: 'b', title: 'Quick quick quick', body: ['Brownies', 'crème brûlée!'], n: 2 },
      { _id: 'c', title: 'Nothing of it', body: 5, n: 3 },
      { _id: 'd', n: 4 },
    ])
    const ids = async (text: string, options = {}): Promise<string[]> =>
      (await posts.search(text, options).toArray()).map(({ _id }) => _id)
    assertEqual(await ids('QUICK'), ['b', 'a'])
    assertEqual(await ids('uber'), ['a'])
    assertEqual(await ids('Creme BRULEE'), ['b'])
    assertEqual(await ids('quick bro*'), ['b', 'a'])
    assertEqual(await ids('quick brown'), ['a'])
    assertEqual(await ids('quick nothing'), [])
    assertEqual((await ids('quick nothing', { match: 'any' })).length, 3)
    assertEqual(await ids('"quick brown"'), ['a'])
    assertEqual(await ids('"brown quick"'), [])
    assertEqual(await ids('"quick brownies"'), [])
    assertEqual(await ids('quick', { selector: { n: { $lt: 2 } } }), ['a'])
    assertEqual(await ids(''), [])
    const quick = posts.search('quick')
    assertEqual([await quick.count(), (await quick.first())!._id], [2, 'b'])
    assertEqual(await quick.skip(1).limit(5).fields('n').toArray(), [{ n: 1 }])
    assertEqual(await posts.search('quick', { selector: { n: 2 } }).count(), 1)
    const [best, other] = await quick.scored()
    assertTrue(best!.score > other!.score && other!.score > 0, 'scores fall')
    assertEqual((await quick.explain()).terms, [{ word: 'quick', isPrefix: false, postings: 2 }])
    const seen: string[] = []
    for await (const { _id } of quick) seen.push(_id)
    assertEqual(seen, ['b', 'a'])
    await posts.delete('b')
    await posts.update('c', (post) => ({ ...post, title: 'quick again' }))
    assertEqual(await ids('quick'), ['c', 'a'])
  })

  check('languages without spaces', async (db) => {
    const posts = db.collection('posts', { indexes: [{ on: 'text', text: true, language: 'ja' }] })
    const text = '大阪に行きました'
    await posts.insert([
      { _id: 'a', text: '東京都' },
      { _id: 'b', text },
    ])
    // Which words there are is for the engine's dictionary to say, and in Firefox also for what stands around them.
    assertEqual(
      (await posts.search(text).toArray()).map(({ _id }) => _id),
      ['b'],
    )
  })

  check('a text index is built on documents that are there; searches say what they lack', async (db) => {
    const posts = db.collection('posts')
    await posts.insert(Array.from({ length: 400 }, (_, n) => ({ _id: `p${n}`, text: `word${n} all ${n % 7}`, n })))
    await assertRejects(posts.search('all').toArray(), 'PANNIER_NOT_FOUND')
    assertThrows(() => posts.search('all', { match: 'some' as 'any' }), TypeError)
    db.collection('posts', { indexes: [{ on: 'text', text: true, where: { n: { $lt: 300 } } }] })
    await posts.ready()
    assertEqual(await posts.search('all').count(), 300)
    assertEqual(await posts.search('word29*').count(), 11)
    await posts.update('p7', (post) => ({ ...post, n: 1000 }))
    await posts.upsert({ _id: 'p399', text: 'all', n: 0 })
    assertEqual(await posts.search('all').count(), 300)
    assertEqual(await posts.search('all 3', { selector: { n: { $gte: 200 } } }).count(), 14)
  })

  check('words that need no segmenter are those that it finds', async () => {
    if (!('Segmenter' in Intl)) return
    const random = seededRandom(17)
    const pieces = Array.from(
      'aZ09_ \t\n\r .,:;\'"-/@#%&()[]…–—’‘“”«»·¡¿€ßéÅøœŁžǅȘΑάϐжЮёѢԯ\u00a0\u00ad\u0301\u200d\u2019\u2028',
    ).concat('x1.5', "isn't", 'e.g. ', 'a:b', '3,14', '東京', 'ไทย', 'שלום', 'नमस्ते', '👩‍🚀', '🇳🇴', '\ud800', '\r\n', 'ﬁ')
    for (const language of [undefined, 'sv', 'tr']) {
      const segmenter = new Intl.Segmenter(language, { granularity: 'word' })
      const find = wordFinder(language)
      for (let turn = 0; turn < 3000; turn++) {
        const chosen = turn % 2 === 0 ? pieces.length : 60
        const text = Array.from({ length: random.below(30) }, () => pieces[random.below(chosen)]!).join('')
        const naive = Array.from(segmenter.segment(text), ({ segment }) =>
          /[\p{L}\p{N}]/u.test(segment) ? foldWord(segment, language).slice(0, WORD_CHARS_MAX) : '',
        )
        assertEqual(
          find(text),
          naive.filter((word) => word !== ''),
          JSON.stringify(text),
        )
      }
    }
  })

  check('lengths of texts are kept to an eighth', async () => {
    for (let words = 1, last = 0; words < 1e6; words += Math.ceil(words / 50)) {
      const code = lengthCode(words)
      const length = lengthOf(code)
      assertTrue(code >= last && code < 256, 'codes rise')
      assertTrue(length <= words && length > words * (8 / 9), `${words} words count as ${length}`)
      last = code
    }
  })
}

const WORDS = ['ape', 'apple', 'app', 'bear', 'bee', 'cat', 'cow', 'dog', 'duck', 'eel']

function randomText(random: Random): string {
  const count = random.below(4) === 0 ? random.below(60) : random.below(8)
  return Array.from({ length: count }, () => WORDS[Math.min(random.below(10), random.below(10))]!).join(' ')
}

async function checkRandomSearches(db: Database, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const posts = db.collection<JsonObject>('posts', { indexes: [{ on: ['title', 'body'], text: true }] })
  const documents = new Map<string, { title: string; body: string[]; n: number }>()
  for (let round = 0; round < 12; round++) {
    const batch = Array.from({ length: random.below(20) }, () => {
      const document = { title: randomText(random), body: [randomText(random), randomText(random)], n: random.below(3) }
      return { _id: `p${random.below(60)}`, ...document }
    })
    for (const { _id, ...rest } of batch) documents.set(_id, rest)
    await posts.upsert(batch)
    const gone = `p${random.below(60)}`
    await posts.delete(gone)
    documents.delete(gone)
    const terms = [...new Set(Array.from({ length: 1 + random.below(3) }, () => randomTerm(random)))]
    const match = random.pick(['all', 'any'] as const)
    const naive = Array.from(documents, ([id, { title, body }]) => ({ id, texts: [title, ...body] }))
    const expected = naiveSearch(naive, terms, match)
    const search = posts.search(terms.join(' '), { match })
    const found = await search.scored()
    assertEqual(found.length, expected.size, terms.join(' '))
    assertEqual(await search.count(), expected.size)
    found.forEach(({ score, document }, at) => {
      assertTrue(Math.abs(score - expected.get(document._id as string)!) < 1e-9, `the score of ${String(document._id)}`)
      assertTrue(at === 0 || score <= found[at - 1]!.score, 'the best come first')
    })
    const some = await search.skip(2).limit(3).toArray()
    assertEqual(
      some,
      found.slice(2, 5).map(({ document }) => document),
    )
    const filtered = posts.search(terms.join(' '), { match, selector: { n: 1 } })
    const wanted = found.filter(({ document }) => document['n'] === 1).map(({ document }) => document)
    assertEqual([await filtered.toArray(), await filtered.count()], [wanted, wanted.length])
  }
}

function randomTerm(random: Random): string {
  const word = random.pick(WORDS)
  return random.chance(0.3) ? `${word.slice(0, 1 + random.below(3))}*` : word
}
