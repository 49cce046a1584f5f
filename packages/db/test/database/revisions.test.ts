/** The conformance suite of revisions, over the model of a key-value store and over the storage engine. */
import { expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import type { WriteTransaction } from '../../src/kv/key-value-store.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { revisionsSuite } from '../../testing/conformance/revisions.ts'
import { countingEnvironment, databaseOver, modelDatabase } from '../../testing/model-database.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { prefixed } from '../../testing/suite.ts'

revisionsSuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelDatabase({ missChance: 0.5, seed: 7 }),
})
revisionsSuite({ test: prefixed(test, 'engine'), create: () => open('x', { storage: memory() }) })

test('3,000 updates of one document, in memory of 1,000', async () => {
  const db = await open('x', { storage: memory() })
  const docs = db.collection<{ n: number }>('docs', { revisionsLimit: 1000 })
  await docs.insert({ _id: 'a', n: 0 })
  for (let n = 1; n <= 3000; n++) await docs.update('a', () => ({ n }))
  const { _revisions } = (await docs.get('a', { revs: true }))!
  expect([_revisions?.start, _revisions?.ids.length]).toEqual([3001, 1000])
  expect((await db.check()).problems).toEqual([])
  await db.close()
})

/** Damage, and what the integrity check must say about it. */
const DAMAGE: readonly [what: string, harm: (transaction: WriteTransaction) => void, problem: RegExp][] = [
  ['an entry that is gone', (tx) => firstOf(tx, '1/revisions'), /document|bodies belong to no revision/],
  ['a body that is gone', (tx) => firstOf(tx, '1/extra'), /REVISION_WRONG docs: .*missing or shared/],
  ['a conflict that is not listed', (tx) => firstOf(tx, '1/conflicts'), /not listed/],
  ['a body that nobody names', (tx) => tx.tree('1/extra')!.append(Uint8Array.of(1)), /belong to no revision/],
  ['a conflict that is none', (tx) => tx.tree('1/conflicts')!.insert(numberKey(1), '\u0001'), /listed as in conflict/],
]

function firstOf(transaction: WriteTransaction, name: string): void {
  const tree = transaction.tree(name)!
  tree.delete(tree.select(0)!.key)
}

for (const [what, harm, problem] of DAMAGE) {
  test(`the integrity check finds ${what}`, async () => {
    const store = modelKeyValueStore()
    const db = databaseOver(store, countingEnvironment())
    const docs = db.collection('docs')
    await docs.put(
      ['c', 'b', 'a'].map((suffix) => ({ _id: 'x', _rev: `1-${suffix}` })),
      { newEdits: false },
    )
    expect((await db.check()).problems).toEqual([])
    await store.write(harm)
    const { ok, problems } = await db.check()
    expect(ok).toBe(false)
    expect(problems.map(({ code, where, message }) => `${code} ${where}: ${message}`).join()).toMatch(problem)
    await db.close()
  })
}
