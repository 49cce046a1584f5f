/** Goal: the check that ties log and memory sees what it is for. Method: records that hold more, less or something else than memory. */
import { expect, test } from 'vitest'
import type { CommitSequence, Key } from '../../src/base/brand.ts'
import type { NodeCache } from '../../src/btree/node.ts'
import { commitInspection } from '../../src/kv/writer.ts'
import { encodeCommit } from '../../src/kv/commit-record.ts'
import { emptyState } from '../../src/kv/meta-body.ts'
import { Transaction, type SealedTransaction } from '../../src/kv/transaction.ts'

const cache = {} as NodeCache
const WRITER = new Uint8Array(8)
const empty = emptyState()

/** A tree with the keys given; `next` is the number that a sequence tree would give then. */
function commitOf(keys: readonly string[], value = 1): SealedTransaction {
  const transaction = new Transaction(empty, cache)
  transaction.step((tx) => {
    const tree = tx.createTree('t', 'ordered')
    for (const key of keys) tree.insert(key as Key, new Uint8Array([value]))
  })
  return transaction.seal()
}

function inspect(logged: SealedTransaction, inMemory: SealedTransaction): void {
  const record = encodeCommit(1 as CommitSequence, WRITER, logged.body!)
  commitInspection.inspect!(empty, record, inMemory.result)
}

test('the same', () => {
  inspect(commitOf(['a', 'b']), commitOf(['a', 'b']))
})

test('a tree that was made and dropped takes no id, neither in memory nor in the log', () => {
  const transaction = new Transaction(empty, cache)
  transaction.createTree('first', 'ordered')
  transaction.createTree('gone', 'inline')
  transaction.dropTree('gone')
  const sealed = transaction.seal()
  inspect(sealed, sealed)
  expect(sealed.result.nextTreeId).toBe(empty.nextTreeId + 1)
})

test('more or less, or another value, or another tree', () => {
  expect(() => inspect(commitOf(['a']), commitOf(['a', 'b']))).toThrow('entries of t')
  expect(() => inspect(commitOf(['a', 'b']), commitOf(['a']))).toThrow('entries of t')
  expect(() => inspect(commitOf(['a', 'c']), commitOf(['a', 'b']))).toThrow('t at b')
  expect(() => inspect(commitOf(['a'], 2), commitOf(['a']))).toThrow('t at a')
  expect(() => inspect(commitOf([]), new Transaction(empty, cache).seal())).toThrow('trees as replayed')
})
