/**
 * Conformance of collections on every storage: writes of one and of many documents, conflicts, transactions, indexes,
 * limits, and hostile ids and names.
 */
import type { Database } from '../../src/database/database.ts'
import { isPannierError } from '../../src/base/errors.ts'
import { assertDefined, assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { eventually } from '../suite.ts'
import type { SuiteContext } from '../suite.ts'
import { checkedCases, type CheckedCase } from './database-cases.ts'

interface Person {
  readonly name?: string
  readonly age?: number
  readonly tags?: readonly string[]
}

export function collectionSuite({ test, create }: SuiteContext<() => Promise<Database>>): void {
  const check = checkedCases({ test, create })
  writeCases(check)
  conflictCases(check)
  hostileCases(check)
  transactionCases(check)
  indexCases(check)
  databaseCases(check)
  test('a database that is closed says so', async () => {
    const db = await create()
    const people = db.collection('people')
    await people.insert({ _id: 'a' })
    const other = people.insert({ _id: 'b' })
    const closed = db.close()
    await other
    await closed
    await db.close()
    await assertRejects(people.get('a'), 'PANNIER_CLOSED')
    await assertRejects(people.insert({ _id: 'c' }), 'PANNIER_CLOSED')
    await assertRejects(people.find().toArray(), 'PANNIER_CLOSED')
    await assertRejects(
      db.transaction(() => 1),
      'PANNIER_CLOSED',
    )
    assertThrows(() => db.collection('x'), 'PANNIER_CLOSED')
  })
}

const REVISION = /^\d+-[0-9a-f]{32}$/

function writeCases(check: CheckedCase): void {
  check('insert, get, put, update, upsert, delete', async (db) => {
    const people = db.collection<Person>('people')
    assertEqual(await people.get('ann'), undefined)
    const inserted = await people.insert({ _id: 'ann', name: 'Ann', age: 31 })
    assertEqual(inserted.id, 'ann')
    assertTrue(REVISION.test(inserted.rev), 'the revision is N-hash')
    assertEqual<unknown>(await people.get('ann'), { _id: 'ann', _rev: inserted.rev, name: 'Ann', age: 31 })
    const replaced = await people.put({ _id: 'ann', _rev: inserted.rev, name: 'Ann', age: 32 })
    assertTrue(replaced.rev.startsWith('2-'), 'the second revision')
    const updated = await people.update('ann', (ann) => ({ ...ann, age: ann.age! + 1 }))
    assertEqual((await people.get('ann'))?.age, 33)
    const upserted = await people.upsert({ _id: 'ann', name: 'Anne' })
    assertTrue(updated.rev.startsWith('3-') && upserted.rev.startsWith('4-'), 'each write has its revision')
    assertEqual<unknown>(await people.get('ann'), { _id: 'ann', _rev: upserted.rev, name: 'Anne' })
    assertEqual((await people.delete('ann'))?.rev.slice(0, 2), '5-')
    assertEqual(await people.get('ann'), undefined)
    assertEqual(await people.delete('ann'), undefined)
    assertEqual((await people.insert({ _id: 'ann' })).rev.slice(0, 2), '6-', 'a document that comes back continues')
    assertEqual(await people.find().count(), 1)
  })

  check('many documents in one call', async (db) => {
    const people = db.collection<Person>('people')
    const documents = Array.from({ length: 500 }, (_, at) => ({ _id: `p${(at * 7) % 500}`, age: at }))
    const results = await people.insert(documents)
    assertEqual(
      results.map(({ id }) => id),
      documents.map(({ _id }) => _id),
    )
    const ids = ['p3', 'nobody', 'p499', 'p3', 'p0']
    assertEqual(
      (await people.get(ids)).map((person) => person?._id),
      ['p3', undefined, 'p499', 'p3', 'p0'],
    )
    await people.update(['p1', 'p2', 'p1'], (person) => ({ ...person, age: -1 }))
    assertEqual(
      (await people.get(['p1', 'p2'])).map((person) => person?.age),
      [-1, -1],
    )
    const deleted = await people.delete(['p5', 'nobody', { _id: 'p6' }])
    assertEqual(
      deleted.map((result) => result?.id),
      ['p5', undefined, 'p6'],
    )
    assertEqual(await people.find().count(), 498)
    assertEqual(await people.insert([]), [])
    assertEqual(await people.delete([]), [])
  })

  check('ids are made, and sort by time', async (db) => {
    const people = db.collection<Person>('people')
    const results = await people.insert(Array.from({ length: 200 }, (_, age) => ({ age })))
    const later = await people.insert({ age: 200 })
    const ids = [...results, later].map(({ id }) => id)
    assertEqual(new Set(ids).size, 201)
    assertEqual([...ids].sort(), ids)
    assertTrue(
      ids.every((id) => /^[0-9a-f]{32}$/.test(id)),
      'an id has 128 bits',
    )
  })

  check('the same edit made twice is one revision', async (db) => {
    const one = db.collection('one')
    const two = db.collection('two')
    await two.insert({ _id: 'other', shape: 1 })
    const document = { _id: 'a', name: 'x', nested: { b: [1, 2.5, 'ü'] } }
    assertEqual((await one.insert(document)).rev, (await two.insert(document)).rev)
    assertTrue(
      (await one.insert({ ...document, _id: 'b', name: 'y' })).rev !== (await one.get('a'))!._rev,
      'other content',
    )
  })

  check('a write takes documents as they are when it is called', async (db) => {
    const people = db.collection<{ name: string }>('people')
    const ann = { _id: 'ann', name: 'Ann' }
    const written = people.insert(ann)
    ann.name = 'Bob'
    await written
    assertEqual((await people.get('ann'))?.name, 'Ann')
  })

  check('writes that are asked for at once all happen', async (db) => {
    const people = db.collection<Person>('people')
    await Promise.all(Array.from({ length: 100 }, (_, at) => people.insert({ _id: `p${at}`, [`field${at % 7}`]: at })))
    assertEqual(await people.find().count(), 100)
    await Promise.all(Array.from({ length: 50 }, () => people.update('p0', (p) => ({ ...p, age: (p.age ?? 0) + 1 }))))
    assertEqual((await people.get('p0'))?.age, 50)
  })
}

function conflictCases(check: CheckedCase): void {
  check('conflicts tell the current revision and change nothing', async (db) => {
    const people = db.collection<Person>('people')
    const { rev } = await people.insert({ _id: 'ann', age: 1 })
    const details = async (promise: Promise<unknown>): Promise<unknown> => {
      const error = await assertRejects(promise, 'PANNIER_CONFLICT')
      return isPannierError(error) ? error.details : undefined
    }
    assertEqual(await details(people.insert({ _id: 'ann', age: 2 })), { id: 'ann', rev })
    assertEqual(await details(people.put({ _id: 'ann', age: 2 })), { id: 'ann', rev })
    assertEqual(await details(people.put({ _id: 'ann', _rev: '1-00', age: 2 })), { id: 'ann', rev })
    assertEqual(await details(people.put({ _id: 'bob', _rev: rev, age: 2 })), { id: 'bob', rev: undefined })
    assertEqual(await details(people.delete({ _id: 'ann', _rev: '9-00' })), { id: 'ann', rev })
    assertEqual((await people.get('ann'))?._rev, rev)
    await people.delete({ _id: 'ann', _rev: rev })
    assertEqual(await people.get('ann'), undefined)
  })

  check('a batch happens whole or not at all', async (db) => {
    const people = db.collection<Person>('people', { indexes: ['age'] })
    await people.insert({ _id: 'm', age: 1 })
    const batch = ['a', 'm', 'z'].map((_id) => ({ _id, age: 2 }))
    await assertRejects(people.insert(batch), 'PANNIER_CONFLICT')
    await assertRejects(people.put(batch), 'PANNIER_CONFLICT')
    await assertRejects(
      people.update(['m', 'nobody'], (p) => ({ ...p, age: 3 })),
      'PANNIER_NOT_FOUND',
    )
    await assertRejects(people.delete(['m', { _id: 'm', _rev: '1-0' }]), 'PANNIER_CONFLICT')
    await assertRejects(people.insert([{ _id: 'a' }, { _id: 'a' }]), 'PANNIER_CONFLICT')
    assertEqual(
      (await people.find().toArray()).map(({ _id, age }) => [_id, age]),
      [['m', 1]],
    )
    const [first, second] = await people.upsert([
      { _id: 'm', age: 7 },
      { _id: 'm', age: 8 },
    ])
    assertEqual(first, second)
    assertEqual((await people.get('m'))?.age, 8, 'the last one counts')
  })

  check('update: what the function does wrong, and undefined', async (db) => {
    const people = db.collection<Person>('people')
    const { rev } = await people.insert({ _id: 'ann', age: 1 })
    await assertRejects(people.update('ann', (async () => ({})) as never), TypeError)
    await assertRejects(
      people.update('ann', () => 5 as never),
      TypeError,
    )
    await assertRejects(
      people.update('ann', (ann) => ({ ...ann, _id: 'bob' })),
      TypeError,
    )
    await assertRejects(
      people.update('ann', () => {
        throw new RangeError('own')
      }),
      RangeError,
    )
    assertEqual(await people.update('ann', () => undefined), { id: 'ann', rev })
    const recipes: ((ann: Record<string, unknown>) => void)[] = [
      (ann) => void (ann['age'] = 99),
      (ann) => void delete ann['age'],
      (ann) => void (ann['nick'] = undefined),
      (ann) => void (ann['tags'] as string[]).push('x'),
    ]
    await people.upsert({ _id: 'tagged', name: 'T', age: 1, tags: ['a'] })
    for (const recipe of recipes) await assertRejects(people.update('tagged', recipe as never), TypeError)
    assertEqual((await people.get('tagged'))!.age, 1)
    await people.update('tagged', () => undefined)
    await people.delete('tagged')
    assertEqual((await people.update('ann', () => ({ age: 2 }))).rev.slice(0, 2), '2-')
    assertEqual((await people.get('ann'))?.age, 2)
  })

  check('update with a patch changes its fields and removes those that are undefined', async (db) => {
    const people = db.collection<Person>('people')
    await people.insert([
      { _id: 'ann', name: 'Ann', age: 1 },
      { _id: 'bob', age: 2 },
    ])
    const patch = { name: 'Anne', age: undefined }
    const updated = people.update('ann', patch)
    patch.name = 'later'
    const { rev } = await updated
    assertEqual<unknown>(await people.get('ann'), { _id: 'ann', _rev: rev, name: 'Anne' })
    await people.update(['ann', 'bob'], { age: 5 })
    assertEqual(
      (await people.get(['ann', 'bob'])).map((one) => one?.age),
      [5, 5],
    )
    await assertRejects(people.update('ann', { _rev: rev, age: 6 }), 'PANNIER_CONFLICT')
    const { _rev } = (await people.get('ann'))!
    await people.update('ann', { _rev, age: 6 })
    assertEqual((await people.get('ann'))?.age, 6)
    await assertRejects(people.update('nobody', { age: 1 }), 'PANNIER_NOT_FOUND')
    assertThrows(() => people.update('ann', { _id: 'bob' } as never), TypeError)
    assertThrows(() => people.update('ann', [] as never), TypeError)
    await people.update('ann', { _deleted: true })
    assertEqual(await people.get('ann'), undefined)
  })

  check('a put without a revision of a document that exists says what may be meant', async (db) => {
    const people = db.collection<Person>('people')
    const { rev } = await people.put({ _id: 'ann', age: 1 })
    for (const input of [{ _id: 'ann' }, { _id: 'ann', _rev: '9-x' }]) {
      const error = await people.put(input).then(
        () => undefined,
        (failure: unknown) => failure,
      )
      assertTrue(isPannierError(error, 'PANNIER_CONFLICT'), 'a conflict')
      assertEqual(error.details, { id: 'ann', rev })
      assertEqual(error.message.includes('upsert()'), !('_rev' in input))
    }
  })
}

/** Ids that are paths, percent codes, names of object members, text outside ASCII, halves of characters. */
const HOSTILE_IDS = [
  '../',
  '%2e%2e',
  '..%2f..',
  '_design/x',
  'constructor',
  'toString',
  'hasOwnProperty',
  'a\u0000b',
  '\u0000',
  ' ',
  '\t',
  '\ud800',
  '\udfff',
  'a\ud800b',
  '💡',
  'ü',
  'ﬀ',
  '\uffff',
  '1',
  '01',
  '-1',
  'a'.repeat(4096),
]

function hostileCases(check: CheckedCase): void {
  check('hostile ids are stored as they are', async (db) => {
    const docs = db.collection<{ at: number }>('docs', { indexes: ['_id'] })
    await docs.insert(HOSTILE_IDS.map((_id, at) => ({ _id, at })))
    for (const [at, id] of HOSTILE_IDS.entries())
      assertEqual((await docs.get(id))?.at, at, JSON.stringify(id.slice(0, 20)))
    assertEqual(
      (await docs.get(HOSTILE_IDS)).map((doc) => doc?._id),
      HOSTILE_IDS,
    )
    assertEqual(await docs.get('__proto__'), undefined)
    assertEqual(await docs.find({ _id: '💡' }).count(), 1)
    await docs.delete(HOSTILE_IDS)
    assertEqual(await docs.find().count(), 0)
  })

  check('hostile names of fields, collections and indexes', async (db) => {
    const names = [
      'constructor',
      'toString',
      'hasOwnProperty',
      'valueOf',
      '',
      '.',
      'a.b',
      '$gt',
      '\u0000',
      '\ud800',
      'length',
      '0',
    ]
    const fields = names.map((name, at) => [name, at] as const)
    const content: Record<string, unknown> = Object.fromEntries(fields)
    Object.defineProperty((content['nested'] = {}), '__proto__', { value: { polluted: true }, enumerable: true })
    const docs = db.collection('constructor', {
      indexes: ['constructor', 'nested.__proto__.polluted', 'toString', 'length'],
    })
    await docs.insert({ _id: 'a', ...content })
    const { _id, _rev, ...stored } = (await docs.get('a'))!
    assertEqual<unknown>(stored, content)
    assertEqual(Object.keys(stored).sort(), Object.keys(content).sort())
    assertTrue(Object.hasOwn(stored['nested'] as object, '__proto__'), 'a field called __proto__ is a field')
    assertEqual(({} as { polluted?: boolean }).polluted, undefined)
    assertEqual(await docs.find({ constructor: 0 } as never).count(), 1)
    assertEqual(await docs.find({ 'nested.__proto__.polluted': true }).count(), 1)
    await db.collection('toString').insert({ _id: 'b' })
    await db.collection('ünï/\ud800 \u0000').insert({ _id: 'b' })
    assertEqual(await db.collections(), ['constructor', 'toString', 'ünï/\ud800 \u0000'])
  })

  check('values at the edges are stored exactly', async (db) => {
    const values = [
      0,
      -1,
      2 ** 53,
      -(2 ** 53),
      1e308,
      5e-324,
      0.1,
      '',
      '\u0000',
      '\ud800',
      'é',
      true,
      false,
      null,
      [],
      {},
      [[]],
      [null],
      { a: {} },
    ]
    const docs = db.collection<{ v: unknown }>('docs', { indexes: ['v', { on: 'v', multi: true, name: 'each' }] })
    await docs.insert(values.map((v, at) => ({ _id: `d${at}`, v })))
    const read = await docs.get(values.map((_, at) => `d${at}`))
    assertEqual(
      read.map((doc) => doc?.v),
      values,
    )
  })

  check('an index takes values of any size, and the document is stored all the same', async (db) => {
    const docs = db.collection<{ v: unknown }>('docs', { indexes: ['v', '-v', { on: 'v', multi: true, name: 'each' }] })
    const long = 'x'.repeat(1_000_000)
    const deep = JSON.parse('['.repeat(100) + ']'.repeat(100)) as unknown
    await docs.insert([
      { _id: 'a', v: long },
      { _id: 'b', v: `${long}y` },
      { _id: 'c', v: [[long], [long, long]] },
      { _id: 'd', v: deep },
    ])
    assertEqual(
      (await docs.find({ v: `${long}y` }).toArray()).map(({ _id }) => _id),
      ['b'],
    )
    await docs.delete(['a', 'c'])
    await docs.update('b', () => ({ v: long }))
    assertEqual(await docs.find({ v: long }).count(), 1)
  })

  check('wrong arguments throw at once, limits have codes', async (db) => {
    const docs = db.collection('docs')
    for (const wrong of [undefined, null, 5, 'text', () => {}, new Date(), new Map(), [[1]], [undefined]]) {
      assertThrows(() => docs.insert(wrong as never), TypeError)
    }
    for (const _id of ['', '_local', '_x', 5, null, {}]) assertThrows(() => docs.insert({ _id } as never), TypeError)
    assertThrows(() => docs.insert({ _id: 'a', _rev: 5 } as never), TypeError)
    assertThrows(() => docs.insert({ _id: 'a', _deleted: 1 } as never), TypeError)
    assertThrows(() => docs.insert({ _id: 'a', f: () => {} }), TypeError)
    assertThrows(() => docs.insert({ _id: 'a', f: NaN }), TypeError)
    assertThrows(() => docs.get(5 as never), TypeError)
    assertThrows(() => docs.update('a', undefined as never), TypeError)
    assertThrows(() => docs.delete(5 as never), TypeError)
    assertThrows(() => db.collection(''), TypeError)
    assertThrows(() => db.collection('_x'), TypeError)
    await assertRejects(docs.insert({ _id: 'a'.repeat(4097) }), 'PANNIER_KEY_TOO_LARGE')
    assertEqual([await docs.get('a'.repeat(4097)), await docs.get(['a'.repeat(4097)])], [undefined, [undefined]])
    const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as unknown
    await assertRejects(docs.insert({ _id: 'a', deep }), 'PANNIER_DOCUMENT_TOO_DEEP')
    await assertRejects(docs.insert(new Array(1_000_001).fill({})), 'PANNIER_BATCH_TOO_LARGE')
    assertEqual(await db.collections(), [], 'nothing was created')
  })
}

function transactionCases(check: CheckedCase): void {
  check('a transaction sees its own writes, others do not; all or nothing', async (db) => {
    const accounts = db.collection<{ amount: number }>('accounts', { indexes: ['amount'] })
    await accounts.insert([
      { _id: 'a', amount: 10 },
      { _id: 'b', amount: 0 },
    ])
    const result = await db.transaction(async (tx) => {
      const inside = tx.collection<{ amount: number }>('accounts')
      await inside.update('a', ({ amount }) => ({ amount: amount - 7 }))
      await inside.update('b', ({ amount }) => ({ amount: amount + 7 }))
      await tx.collection('log').insert({ _id: 'entry' })
      assertEqual((await inside.get('a'))?.amount, 3)
      assertEqual((await accounts.get('a'))?.amount, 10)
      assertEqual(await inside.find({ amount: 7 }).count(), 1)
      return 'done'
    })
    assertEqual(result, 'done')
    assertEqual(
      (await accounts.get(['a', 'b'])).map((account) => account?.amount),
      [3, 7],
    )
    await assertRejects(
      db.transaction(async (tx) => {
        await tx.collection('accounts').delete(['a', 'b'])
        await tx.collection('other').insert({ _id: 'x', field: 1 })
        throw new RangeError('no')
      }),
      RangeError,
    )
    assertEqual(await accounts.find().count(), 2)
    assertEqual(await db.collections(), ['accounts', 'log'])
    await db.collection('other').insert({ _id: 'y', another: 2 })
    assertEqual<unknown>((await db.collection('other').get('y'))?.['another'], 2)
  })

  check('an operation that fails leaves the rest of its transaction as it is', async (db) => {
    await db.transaction(async (tx) => {
      const docs = tx.collection('docs')
      await docs.insert({ _id: 'a', n: 1 })
      await assertRejects(docs.insert([{ _id: 'b' }, { _id: 'a' }]), 'PANNIER_CONFLICT')
      await docs.insert({ _id: 'c', m: 1 })
    })
    assertEqual((await db.collection('docs').find().toArray()).map(({ _id }) => _id).sort(), ['a', 'c'])
  })

  check('a transaction that has ended is of no use', async (db) => {
    let leaked: Parameters<Parameters<Database['transaction']>[0]>[0] | undefined
    await db.transaction((tx) => {
      leaked = tx
      // Not waited for, and done all the same.
      void tx.collection('docs').insert({ _id: 'a' })
    })
    assertDefined(leaked)
    const tx = leaked
    assertThrows(() => tx.collection('docs'), 'PANNIER_TRANSACTION_ENDED')
    assertEqual(await db.collection('docs').find().count(), 1)
  })

  check('transactions and writes take turns', async (db) => {
    const docs = db.collection<{ n: number }>('docs')
    await docs.insert({ _id: 'a', n: 0 })
    const add = (): Promise<unknown> =>
      db.transaction(async (tx) => {
        const inside = tx.collection<{ n: number }>('docs')
        const { n } = (await inside.get('a'))!
        await inside.upsert({ _id: 'a', n: n + 1 })
      })
    await Promise.all([add(), docs.update('a', ({ n }) => ({ n: n + 1 })), add(), add()])
    assertEqual((await docs.get('a'))?.n, 4)
  })
}

function indexCases(check: CheckedCase): void {
  check('indexes are built on what is there and kept in step', async (db) => {
    const people = db.collection<Person>('people')
    await people.insert(
      Array.from({ length: 300 }, (_, at) => ({ _id: `p${at}`, age: at % 10, tags: [`t${at % 3}`, `t${at % 5}`] })),
    )
    await people.delete(['p7', 'p8'])
    db.collection('people', { indexes: ['age', ['-age', 'name'], { on: 'tags', multi: true }] })
    await people.ready()
    assertEqual(
      (await people.indexes()).map(({ name, ready }) => [name, ready]),
      [
        ['age', true],
        ['-age,name', true],
        ['tags', true],
      ],
    )
    assertEqual(await people.find({ age: 7 }).count(), 29)
    await people.update('p9', (p) => ({ ...p, age: 7, tags: [] }))
    assertEqual(await people.find({ age: 7 }).count(), 30)
    assertEqual(
      await people.find({ tags: 't1' }).count(),
      (await people.find().toArray()).filter((p) => p.tags?.includes('t1')).length,
    )
    assertEqual(await people.dropIndex('age'), true)
    assertEqual(await people.dropIndex('age'), false)
    assertEqual(
      (await people.indexes()).map(({ name }) => name),
      ['-age,name', 'tags'],
    )
  })

  check('an index that is declared again must be the same', async (db) => {
    const people = db.collection<Person>('people', { indexes: [{ on: 'age', name: 'x' }] })
    await people.insert({ _id: 'a', age: 1 })
    db.collection('people', { indexes: [{ on: 'age', name: 'x' }] })
    assertThrows(() => db.collection('people', { indexes: [{ on: '-age', name: 'x' }] }), 'PANNIER_INDEX_MISMATCH')
    // One would silently take the place of the other.
    const both = ['email', { on: 'email', unique: true }]
    assertThrows(() => db.collection('people', { indexes: both }), 'PANNIER_INDEX_MISMATCH')
    assertThrows(() => db.collection('people', { indexes: [{ on: ['a', 'b'], multi: true }] }), TypeError)
    assertThrows(() => db.collection('people', { indexes: [''] }), TypeError)
    assertThrows(() => db.collection('people', { indexes: [['a', '-a']] }), TypeError)
    assertThrows(() => db.collection('people', { indexes: [{ on: 'a', sparse: true } as never] }), TypeError)
    await people.ready()
  })

  check('indexes are built while documents are written', async (db) => {
    const people = db.collection<Person>('people')
    const ids = Array.from({ length: 400 }, (_, at) => `p${at}`)
    await people.insert(ids.map((_id, at) => ({ _id, age: at })))
    db.collection('people', { indexes: ['age', '-name'] })
    const writes: Promise<unknown>[] = []
    for (let at = 0; at < 60; at++) {
      writes.push(people.update(ids[at * 3]!, (p) => ({ ...p, age: -1 })))
      if (at % 3 === 0) writes.push(people.delete(ids[at * 5 + 1]!))
      writes.push(people.insert({ _id: `new${at}`, age: 1000 + at }))
      await Promise.resolve()
    }
    await Promise.all(writes)
    await people.ready()
    const all = await people.find().toArray()
    assertEqual(await people.find({ age: -1 }).count(), all.filter(({ age }) => age === -1).length)
    assertTrue(
      (await people.indexes()).every(({ ready }) => ready),
      'all indexes are ready',
    )
  })
}

function databaseCases(check: CheckedCase): void {
  check('collections come with the first write and go at once', async (db) => {
    const people = db.collection('people', { indexes: ['age'] })
    await people.ready()
    assertEqual(await db.collections(), [])
    assertEqual(await people.find({ age: 1 }).toArray(), [])
    assertEqual(await people.find().count(), 0)
    await people.insert({ _id: 'a', age: 1 })
    assertEqual(await db.collections(), ['people'])
    assertEqual(await db.dropCollection('people'), true)
    assertEqual(await db.dropCollection('people'), false)
    assertEqual(await people.get('a'), undefined)
    assertEqual((await people.insert({ _id: 'a', b: 2 })).rev.slice(0, 2), '1-')
    assertEqual(
      (await people.indexes()).map(({ name }) => name),
      ['age'],
      'what was declared still holds',
    )
  })

  check('subscribe() tells what was changed', async (db) => {
    const seen: unknown[] = []
    const people = db.collection('people')
    const stop = db.subscribe(({ collections, local }) =>
      seen.push([
        local,
        ...[...collections.keys()]
          .sort()
          .map((name) => [name, collections.get(name)?.ids, collections.get(name)?.dropped]),
      ]),
    )
    await people.insert([{ _id: 'a' }, { _id: 'b' }])
    await people.update('a', (a) => ({ ...a, n: 1 }))
    await db.transaction(async (tx) => {
      await tx.collection('people').delete('b')
      await tx.collection('more').insert({ _id: 'c' })
    })
    // An event after the drop could no longer name the documents.
    await eventually(() => seen.length === 3)
    await db.dropCollection('more')
    await people.find().count()
    await eventually(() => seen.length === 4)
    stop()
    await people.upsert({ _id: 'd' })
    assertEqual(seen, [
      [true, ['people', ['a', 'b'], false]],
      [true, ['people', ['a'], false]],
      [true, ['more', ['c'], false], ['people', ['b'], false]],
      [true, ['more', undefined, true]],
    ])
  })
}
