/**
 * Goal: a guard judges inside the transaction that writes: nobody writes between its judgement and the write. Method: writers at the same
 * time, whose guards note what they see last, as they may be asked again.
 */
import { expect, test } from 'vitest'
import { open, PannierError } from '../../src/index.ts'
import { guarded } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'
import { slow } from '../../testing/slow-storage.ts'
import type { DocumentGuard } from '../../src/internal.ts'

interface Count {
  readonly n: number
}

/** Refuses what does not grow; `seen` gets the old value for each new one. */
function growing(documents: readonly Count[], seen: Map<number, unknown>): DocumentGuard {
  return ({ position, old }) => {
    const before = old()?.['n'] as number | undefined
    seen.set(documents[position]!.n, before)
    if ((before ?? -1) >= documents[position]!.n)
      return new PannierError('PANNIER_DOCUMENT_INVALID', 'it must grow', { details: { before } })
    return undefined
  }
}

function replicated(rev: string, n: number): { _id: string; _rev: string; n: number } {
  return { _id: 'a', _rev: rev, n }
}

test('the guard of the second writer sees what the first has written', async () => {
  const db = await open('guarded', { storage: memory() })
  const counts = db.collection<Count>('counts')
  const seen = new Map<number, unknown>()
  const write = async (document: ReturnType<typeof replicated>): Promise<string> => {
    const [outcome] = await guarded(counts, growing([document], seen)).put([document], {
      atomic: false,
      newEdits: false,
    })
    return 'error' in outcome! ? outcome.error.code : outcome!.rev
  }
  const outcomes = await Promise.all([
    write(replicated('1-a', 1)),
    write(replicated('1-b', 2)),
    write(replicated('1-c', 0)),
    write(replicated('1-d', 3)),
  ])
  expect(outcomes).toEqual(['1-a', '1-b', 'PANNIER_DOCUMENT_INVALID', '1-d'])
  expect(seen).toEqual(
    new Map([
      [1, undefined],
      [2, 1],
      [0, 2],
      [3, 2],
    ]),
  )
  expect(await counts.getRevisions('a', 'all')).toHaveLength(3)
  await db.close()
})

test('a guard sees each change, and refuses single documents of a batch', async () => {
  const db = await open('guarded', { storage: memory() })
  const counts = db.collection<Count>('counts')
  const { rev } = await counts.insert({ _id: 'old', n: 5 })
  const { seq } = (await counts.changes().toArray())[0]!
  const gone = await counts.insert({ _id: 'gone', n: 7 })
  await counts.delete({ _id: 'gone', _rev: gone.rev })
  const documents = [
    { _id: 'old', _rev: rev, n: 6 },
    { _id: 'new', n: 1 },
    { _id: 'gone', n: 1 },
    { _id: 'stale', _rev: '1-x', n: 1 },
    { _id: 'bad', n: -5 },
  ]
  const told: unknown[] = []
  const guard = growing(documents, new Map())
  const noting: DocumentGuard = (change) => {
    told.push([change.position, change.sequence, change.old()?.['n']])
    return guard(change)
  }
  const outcomes = await guarded(counts, noting).put(documents, { atomic: false })
  expect(told).toEqual([
    [0, seq, 5],
    [1, 0, undefined],
    [2, 3, undefined],
    [3, 0, undefined],
    [4, 0, undefined],
  ])
  expect(outcomes.map((one) => ('error' in one ? [one.id, one.error.code] : one.id))).toEqual([
    'old',
    'new',
    'gone',
    ['stale', 'PANNIER_CONFLICT'],
    ['bad', 'PANNIER_DOCUMENT_INVALID'],
  ])
  expect(await counts.get(['old', 'new', 'gone', 'stale', 'bad'])).toMatchObject(
    [{ n: 6 }, { n: 1 }, { n: 1 }, {}, {}].map((one, at) => (at < 3 ? one : undefined)),
  )
  await db.close()
})

test('what a guard throws ends the write, and nothing of it is written', async () => {
  const db = await open('guarded', { storage: memory() })
  const counts = db.collection<Count>('counts')
  const failing = guarded(counts, ({ position }) => {
    if (position === 1) throw new RangeError('broken')
    return undefined
  }).put([
    { _id: 'a', n: 1 },
    { _id: 'b', n: 1 },
  ])
  await expect(failing).rejects.toThrow('broken')
  expect((await counts.info()).documents).toBe(0)
  expect(await guarded(counts, () => undefined).put({ _id: 'a', n: 1 })).toMatchObject({ id: 'a' })
  await db.close()
})

test('a refused document leaves none of the content of its attachments', async () => {
  const db = await open('guarded', { storage: memory() })
  const files = db.collection('files')
  const data = new Uint8Array(2_000_000).fill(1)
  const document = { _id: 'a', _attachments: { large: { contentType: 'image/png', data } } }
  const refuse: DocumentGuard = () => new PannierError('PANNIER_DOCUMENT_INVALID', 'no')
  expect(await guarded(files, refuse).put([document as never], { atomic: false })).toMatchObject([
    { id: 'a', error: {} },
  ])
  await files.compact()
  const { storedBytes = 0 } = await files.info()
  expect(storedBytes).toBeLessThan(data.length / 2)
  expect(await guarded(files, () => undefined).put([document as never])).toMatchObject([{ id: 'a' }])
  expect((await (await files.getAttachment('a', 'large'))!.bytes()).length).toBe(data.length)
  await db.close()
})

test('a guard sees each kind of write: the old document and the new one', async () => {
  const db = await open('guarded', { storage: memory() })
  const counts = db.collection<Count & { readonly note?: string }>('counts')
  const seen: unknown[] = []
  const all = guarded(counts, ({ id, old, document }) => {
    const { _rev: _, ...before } = old() ?? {}
    seen.push([id, before, document()])
    return undefined
  })
  const { rev } = await all.insert({ _id: 'a', n: 1 })
  await all.put({ _id: 'a', _rev: rev, n: 2 })
  await all.upsert({ _id: 'a', n: 3, note: 'x' })
  await all.update('a', { n: 4 })
  await all.update('a', () => undefined)
  await all.putAttachment('a', 'file', 'text')
  await all.delete(['a', 'missing'])
  await all.insert({ _id: 'a', n: 5 })
  await db.transaction(async (tx) => {
    const inside = guarded(tx.collection<Count>('counts'), ({ old }) => {
      seen.push(old()!['n'])
      return undefined
    })
    await inside.update('a', { n: 6 })
    await inside.update('a', { n: 7 })
  })
  const withNote = { _id: 'a', n: 4, note: 'x' }
  expect(seen).toEqual([
    ['a', {}, { _id: 'a', n: 1 }],
    ['a', { _id: 'a', n: 1 }, { _id: 'a', n: 2 }],
    ['a', { _id: 'a', n: 2 }, { _id: 'a', n: 3, note: 'x' }],
    ['a', { _id: 'a', n: 3, note: 'x' }, withNote],
    ['a', withNote, withNote],
    ['a', { ...withNote, _attachments: expect.anything() }, { _id: 'a', _deleted: true }],
    ['a', {}, { _id: 'a', n: 5 }],
    5,
    6,
  ])
  await db.close()
})

/** Refuses a post whose author is missing or may not write. */
const byWriters: DocumentGuard = ({ id, document, reader }) => {
  const author = reader.get('users', document()['author'] as string)
  return author?.['writes'] === true
    ? undefined
    : new PannierError('PANNIER_DOCUMENT_INVALID', `No writer wrote '${id}'.`, { details: { id } })
}

test('a guard reads other collections, whose pages come late', async () => {
  const storage = slow(memory(), 7)
  const name = 'guarded'
  const first = await open(name, { storage })
  const ids = Array.from({ length: 3000 }, (_, n) => `u${n}`)
  await first.collection('users').insert(ids.map((_id, n) => ({ _id, writes: n % 3 > 0 })))
  await first.collection('posts').insert({ _id: 'old', author: 'u1' })
  await first.flush()
  await first.close()
  const db = await open(name, { storage })
  const posts = guarded(db.collection<{ author: string }>('posts'), byWriters)
  const outcomes = await posts.insert(
    ids.filter((_, n) => n % 100 === 0).map((author, n) => ({ _id: `p${n}`, author })),
    { atomic: false },
  )
  expect(outcomes.map((one) => ('error' in one ? one.error.code : one.id))).toEqual(
    Array.from({ length: 30 }, (_, n) => ((n * 100) % 3 > 0 ? `p${n}` : 'PANNIER_DOCUMENT_INVALID')),
  )
  const refused = posts.insert(['u1', 'u0', 'u3'].map((author, n) => ({ _id: `q${n}`, author })))
  await expect(refused).rejects.toMatchObject({ code: 'PANNIER_DOCUMENT_INVALID', details: { id: 'q1' } })
  expect(await db.collection('posts').find().count()).toBe(21)
  await db.close()
})

test('in one group a guard sees what the writes before it have written', async () => {
  const db = await open('guarded', { storage: memory() })
  const users = db.collection<{ writes: boolean }>('users')
  const posts = guarded(db.collection<{ author: string }>('posts'), byWriters)
  const codeOf = (error: unknown): string => (error as PannierError).code
  const outcomes = await Promise.all([
    posts.insert({ _id: 'p1', author: 'ann' }).catch(codeOf),
    users.insert({ _id: 'ann', writes: true }),
    posts.insert({ _id: 'p2', author: 'ann' }),
    users.update('ann', { writes: false }),
    posts.insert({ _id: 'p3', author: 'ann' }).catch(codeOf),
  ])
  const refused = 'PANNIER_DOCUMENT_INVALID'
  expect(outcomes).toMatchObject([refused, { id: 'ann' }, { id: 'p2' }, { id: 'ann' }, refused])
  expect(await db.collection('posts').find().toArray()).toMatchObject([{ _id: 'p2' }])
  await db.close()
})

test('what relations do to other documents is judged, and a refusal is one of the delete', async () => {
  const relations = {
    author: { to: 'users', onDelete: 'cascade' },
    editor: { to: 'users', onDelete: 'unset' },
  } as const
  for (const storage of [memory(), slow(memory(), 3)]) {
    const db = await open('guarded', { storage, collections: { users: {}, posts: { relations } } })
    const [users, posts] = [db.collection('users'), db.collection('posts')]
    await users.insert(['ann', 'bob', 'cid'].map((_id) => ({ _id })))
    const many = Array.from({ length: 150 }, (_, n) => ({ _id: `c${n}`, author: 'cid' }))
    await posts.insert([{ _id: 'a', author: 'ann' }, { _id: 'b', editor: 'bob' }, ...many])
    const seen: unknown[] = []
    const guard =
      (refused: string): DocumentGuard =>
      ({ id, old, document }) => {
        seen.push([id, old()?._id, document()])
        return id === refused ? new PannierError('PANNIER_DOCUMENT_INVALID', 'it stays') : undefined
      }
    const deleting = (refused: string) =>
      guarded(
        users,
        () => undefined,
        (collection) => (collection === 'posts' ? guard(refused) : undefined),
      )
    for (const [user, post] of [
      ['ann', 'a'],
      ['bob', 'b'],
      ['cid', 'c149'],
    ] as const) {
      await expect(deleting(post).delete(user)).rejects.toMatchObject({ code: 'PANNIER_DOCUMENT_INVALID' })
      expect(await users.get(user)).toBeDefined()
    }
    expect(await posts.find().count()).toBe(152)
    seen.length = 0
    await deleting('none').delete('ann')
    await deleting('none').delete('bob')
    expect(seen).toContainEqual(['a', 'a', { _id: 'a', _deleted: true }])
    expect(seen).toContainEqual(['b', 'b', { _id: 'b' }])
    await db.close()
  }
})
