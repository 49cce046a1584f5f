/**
 * Goal: a guard judges inside the transaction that writes: nobody writes between its judgement and the write. Method: writers at the same
 * time, whose guards note what they see last, as they may be asked again.
 */
import { expect, test } from 'vitest'
import { isPannierError, open, PannierError } from '../../src/index.ts'
import { putGuarded } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'
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
      return new PannierError('PANNIER_INVALID_DOCUMENT', 'it must grow', { details: { before } })
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
    const [outcome] = await putGuarded(counts, [document], { newEdits: false }, growing([document], seen))
    return 'error' in outcome! ? outcome.error.code : outcome!.rev
  }
  const outcomes = await Promise.all([
    write(replicated('1-a', 1)),
    write(replicated('1-b', 2)),
    write(replicated('1-c', 0)),
    write(replicated('1-d', 3)),
  ])
  expect(outcomes).toEqual(['1-a', '1-b', 'PANNIER_INVALID_DOCUMENT', '1-d'])
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
  const outcomes = await putGuarded(counts, documents, {}, (change) => {
    told.push([change.position, change.sequence, change.old()?.['n']])
    return guard(change)
  })
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
    ['bad', 'PANNIER_INVALID_DOCUMENT'],
  ])
  expect(await counts.get(['old', 'new', 'gone', 'stale', 'bad'])).toMatchObject(
    [{ n: 6 }, { n: 1 }, { n: 1 }, {}, {}].map((one, at) => (at < 3 ? one : undefined)),
  )
  await db.close()
})

test('what a guard throws ends the write, and nothing of it is written', async () => {
  const db = await open('guarded', { storage: memory() })
  const counts = db.collection<Count>('counts')
  const failing = putGuarded(
    counts,
    [
      { _id: 'a', n: 1 },
      { _id: 'b', n: 1 },
    ],
    {},
    ({ position }) => {
      if (position === 1) throw new RangeError('broken')
      return undefined
    },
  )
  await expect(failing).rejects.toThrow('broken')
  expect((await counts.info()).documents).toBe(0)
  const error: unknown = await putGuarded(counts, [{ _id: 'a', n: 1 }], {}, () => undefined).catch(
    (one: unknown) => one,
  )
  expect(isPannierError(error)).toBe(false)
  await db.close()
})

test('a refused document leaves none of the content of its attachments', async () => {
  const db = await open('guarded', { storage: memory() })
  const files = db.collection('files')
  const data = new Uint8Array(2_000_000).fill(1)
  const document = { _id: 'a', _attachments: { large: { contentType: 'image/png', data } } }
  const refuse: DocumentGuard = () => new PannierError('PANNIER_INVALID_DOCUMENT', 'no')
  expect(await putGuarded(files, [document as never], {}, refuse)).toMatchObject([{ id: 'a', error: {} }])
  await files.compact()
  const { storedBytes = 0 } = await files.info()
  expect(storedBytes).toBeLessThan(data.length / 2)
  expect(await putGuarded(files, [document as never], {}, () => undefined)).toMatchObject([{ id: 'a' }])
  expect((await (await files.getAttachment('a', 'large'))!.bytes()).length).toBe(data.length)
  await db.close()
})
