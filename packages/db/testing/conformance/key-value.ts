/**
 * Conformance of key-value stores: src/kv/key-value-store.ts as tests. If it can make a difference, a case runs on data
 * only in the log, only in pages, and in both. It ends with the integrity check if the store has one.
 */
import type { Key } from '../../src/base/brand.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import type {
  CommitNotice,
  HeldSnapshot,
  KeyRange,
  KeyValueStore,
  Snapshot,
  WriteTransaction,
} from '../../src/kv/key-value-store.ts'
import { assertEqual, assertRejects, assertTrue } from '../check.ts'
import {
  compareAll,
  compareSome,
  copyModel,
  createAll,
  randomSteps,
  runStep,
  type Model,
} from '../key-value-workload.ts'
import { seededRandom, type Random } from '../random.ts'
import {
  keysOf,
  newestKeys,
  paddedKey,
  someKey,
  someValue,
  type CheckedKeyValueStore,
  type KeyValueSuiteContext,
} from './key-value-fixture.ts'
import { keyValueHandlesSuite } from './key-value-handles.ts'

export function keyValueSuite(context: KeyValueSuiteContext): void {
  const check: Case = (name, body) => {
    context.test(name, async () => {
      const store = await context.create().open()
      try {
        await body(store)
        await store.check?.()
      } finally {
        await store.close()
      }
    })
  }
  readCases(check)
  snapshotCases(check)
  writeCases(check)
  transactionCases(check)
  treeCases(check)
  noticeCases(check)
  randomCases(check)
  if (context.supports.handles) keyValueHandlesSuite(context)
}

type Case = (name: string, body: (store: CheckedKeyValueStore) => Promise<void>) => void

/** Even numbers up to 6,000; those that are divisible by ten come after a storage checkpoint, and by twelve go after it. */
async function withEntries(store: KeyValueStore): Promise<Key[]> {
  const numbers = Array.from({ length: 3000 }, (_, at) => at * 2)
  await store.write((transaction) => {
    const tree = transaction.createTree('t', 'ordered')
    for (const n of numbers) if (n % 10 !== 0) tree.insert(paddedKey(n), someValue(n % 90))
  })
  await store.checkpoint()
  await store.write((transaction) => {
    const tree = transaction.tree('t')!
    for (const n of numbers) if (n % 10 === 0) tree.insert(paddedKey(n), someValue(n % 90))
    for (const n of numbers) if (n % 12 === 0) tree.remove(paddedKey(n), n % 90)
  })
  return numbers.filter((n) => n % 12 !== 0).map(paddedKey)
}

const RANGES: readonly KeyRange[] = [
  {},
  { gte: paddedKey(1000) },
  { lt: paddedKey(1001) },
  { gte: paddedKey(1200), lt: paddedKey(1230) },
  { gte: paddedKey(1203), lt: paddedKey(3000) },
  { gte: paddedKey(9000) },
  { lt: someKey('') },
  { gte: paddedKey(50), lt: paddedKey(40) },
]

function readCases(check: Case): void {
  check('get and getMany find what is there, in the order asked for', async (store) => {
    await withEntries(store)
    await store.read((snapshot) => {
      const tree = snapshot.tree('t')!
      assertEqual(tree.get(paddedKey(2)), someValue(2))
      assertEqual(tree.get(paddedKey(10)), someValue(10))
      assertEqual(tree.get(paddedKey(12)), undefined)
      assertEqual(tree.get(paddedKey(3)), undefined)
      const numbers = [5998, 2, 12, 10, 2, 4000, 1]
      const expected = [someValue(58), someValue(2), undefined, someValue(10), someValue(2), someValue(40), undefined]
      assertEqual(tree.getMany(numbers.map(paddedKey)), expected)
      assertEqual(tree.getMany([]), [])
    })
  })

  check('count and rank of ranges are exact', async (store) => {
    const keys = await withEntries(store)
    await store.read((snapshot) => {
      const tree = snapshot.tree('t')!
      assertEqual(tree.count(), keys.length)
      for (const range of RANGES) assertEqual(tree.count(range), inside(keys, range).length)
      for (const n of [0, 1, 12, 13, 1010, 5998, 5999, 100_000]) {
        assertEqual(tree.rank(paddedKey(n)), keys.filter((key) => key < paddedKey(n)).length)
      }
    })
  })

  check('select gives the entry by how many are before it', async (store) => {
    const keys = await withEntries(store)
    await store.read((snapshot) => {
      const tree = snapshot.tree('t')!
      for (const rank of [0, 1, 77, 1234, keys.length - 1]) {
        const key = keys[rank]!
        assertEqual(tree.select(rank), { key, value: someValue(Number(key) % 90) })
      }
      assertEqual(tree.select(keys.length), undefined)
    })
  })

  check('cursors walk both ways, and skip by rank', async (store) => {
    const keys = await withEntries(store)
    await store.read((snapshot) => {
      const tree = snapshot.tree('t')!
      for (const range of RANGES) {
        const expected = inside(keys, range)
        for (const skip of [0, 1, 3, 700, expected.length, expected.length + 1]) {
          assertEqual(keysOf(tree, range, false, skip), expected.slice(skip))
          assertEqual(keysOf(tree, range, true, skip), expected.toReversed().slice(skip))
        }
      }
    })
  })

  check('a cursor stays where it is when something is missing in memory, a large value too', async (store) => {
    const sizes = Array.from({ length: 120 }, (_, at) => [10, 70_000, 9000, 300][at % 4]!)
    await store.write((transaction) => {
      const tree = transaction.createTree('s', 'sequence')
      for (const size of sizes) tree.append(someValue(size))
    })
    await store.checkpoint()
    await store.write((transaction) => transaction.tree('s')!.replace(numberKey(2), someValue(1)))
    sizes[1] = 1
    for (const reverse of [false, true]) {
      const snapshot = store.snapshot()
      const cursor = snapshot.tree('s')!.cursor({}, { reverse })
      const seen: number[] = []
      // Resumed after each miss, not started again.
      await snapshot.attempt(() => {
        while (cursor.next()) seen.push(cursor.value.length)
      })
      snapshot.release()
      assertEqual(seen, reverse ? sizes.toReversed() : sizes)
    }
  })
}

function inside(keys: readonly Key[], { gte, lt }: KeyRange): Key[] {
  return keys.filter((key) => (gte === undefined || key >= gte) && (lt === undefined || key < lt))
}

function snapshotCases(check: Case): void {
  check('a snapshot that is held sees one state while writers go on', async (store) => {
    const keys = await withEntries(store)
    const held = store.snapshot()
    const { sequence } = held
    const look = async (): Promise<void> => {
      await held.attempt(() => {
        assertEqual(keysOf(held.tree('t')!), keys)
        assertEqual(held.tree('t')!.count(), keys.length)
        assertEqual(held.tree('later'), undefined)
        assertEqual(held.treeNames(), ['t'])
      })
    }
    await store.write((transaction) => {
      for (const key of keys.slice(0, 1500)) transaction.tree('t')!.delete(key)
      transaction.createTree('later', 'ordered').put(someKey('x'), someValue(3))
    })
    await look()
    for (let round = 0; round < 3; round++) {
      await store.write((transaction) => transaction.tree('t')!.put(paddedKey(round), someValue(50_000)))
      await store.checkpoint()
      await look()
    }
    await store.write((transaction) => transaction.dropTree('t'))
    await store.checkpoint()
    await store.checkpoint()
    await look()
    assertEqual(held.sequence, sequence)
    held.release()
    held.release()
    await store.checkpoint()
    assertEqual(await newestKeys(store, 't'), undefined)
    assertEqual(await newestKeys(store, 'later'), [someKey('x')])
  })

  check('many snapshots see a state each', async (store) => {
    await store.write((transaction) => void transaction.createTree('t', 'ordered'))
    const held: HeldSnapshot[] = []
    for (let n = 0; n < 12; n++) {
      held.push(store.snapshot())
      await store.write((transaction) => transaction.tree('t')!.insert(paddedKey(n), someValue(4000, n)))
      if (n % 3 === 2) await store.checkpoint()
    }
    const look = async (n: number): Promise<void> => {
      const tree = held[n]!.tree('t')!
      const keys = await held[n]!.attempt(() => keysOf(tree))
      assertEqual(
        keys,
        Array.from({ length: n }, (_, at) => paddedKey(at)),
      )
    }
    for (const n of [11, 0, 5, 3]) await look(n)
    for (const n of [2, 7, 9, 1]) held[n]!.release()
    await store.checkpoint()
    for (const n of [0, 3, 4, 5, 6, 8, 10, 11]) await look(n)
    for (const snapshot of held) snapshot.release()
  })

  check('sequences grow with commits', async (store) => {
    const sequences: number[] = [store.snapshot().sequence]
    for (let n = 0; n < 3; n++) {
      await store.write((transaction) => void transaction.createTree(`t${n}`, 'ordered'))
      sequences.push(await store.read((snapshot) => snapshot.sequence))
      if (n === 1) await store.checkpoint()
    }
    for (let at = 1; at < sequences.length; at++) assertTrue(sequences[at]! > sequences[at - 1]!, 'it is higher')
  })
}

function writeCases(check: Case): void {
  check('a write sees its own changes, and resolves with its result', async (store) => {
    const result = await store.write((transaction) => {
      const tree = transaction.createTree('t', 'ordered')
      tree.insert(someKey('b'), someValue(2))
      tree.put(someKey('a'), someValue(1))
      tree.put(someKey('a'), someValue(9))
      tree.replace(someKey('b'), someValue(3))
      assertEqual(tree.delete(someKey('c')), false)
      tree.insert(someKey('c'), someValue(0))
      tree.remove(someKey('c'), 0)
      assertEqual(tree.delete(someKey('b')), true)
      tree.insert(someKey('b'), someValue(5))
      assertEqual([tree.count(), tree.rank(someKey('b')), transaction.treeNames().length], [2, 1, 1])
      assertEqual(keysOf(transaction.tree('t')!), ['a', 'b'].map(someKey))
      return tree.get(someKey('a'))!.length
    })
    assertEqual(result, 9)
    await store.checkpoint()
    await store.read((snapshot) => {
      const tree = snapshot.tree('t')!
      assertEqual(tree.getMany([someKey('a'), someKey('b'), someKey('c')]), [someValue(9), someValue(5), undefined])
    })
  })

  check('writes that are asked for at once run in order, each on what the one before left', async (store) => {
    await store.write((transaction) => transaction.createTree('t', 'ordered').put(someKey('n'), someValue(0)))
    const lengths = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        store.write((transaction) => {
          const tree = transaction.tree('t')!
          const length = tree.get(someKey('n'))!.length + 1
          tree.put(someKey('n'), someValue(length))
          tree.insert(paddedKey(at), someValue(length))
          return length
        }),
      ),
    )
    assertEqual(
      lengths,
      Array.from({ length: 40 }, (_, at) => at + 1),
    )
    assertEqual((await newestKeys(store, 't'))?.length, 41)
  })

  check('a write that throws leaves nothing behind, and its neighbours alone', async (store) => {
    await store.write((transaction) => transaction.createTree('t', 'ordered').put(someKey('old'), someValue(1)))
    await store.write((transaction) => transaction.createTree('s', 'sequence').append(someValue(1)))
    const problem = new RangeError('on purpose')
    const outcomes = await Promise.allSettled([
      store.write((transaction) => transaction.tree('t')!.put(someKey('before'), someValue(1))),
      store.write((transaction) => {
        transaction.createTree('new', 'ordered').put(someKey('x'), someValue(1))
        transaction.tree('t')!.put(someKey('old'), someValue(2))
        transaction.tree('t')!.put(someKey('mine'), someValue(2))
        transaction.tree('t')!.delete(someKey('before'))
        transaction.tree('s')!.append(someValue(2))
        transaction.dropTree('t')
        throw problem
      }),
      store.write((transaction) => {
        assertEqual(transaction.tree('s')!.append(someValue(3)), 2, 'the number was not used')
        transaction.tree('t')!.put(someKey('after'), someValue(1))
      }),
    ])
    assertEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assertTrue((outcomes[1] as PromiseRejectedResult).reason === problem, 'the error is the one that was thrown')
    await store.read((snapshot) => {
      assertEqual(snapshot.treeNames(), ['s', 't'])
      assertEqual(keysOf(snapshot.tree('t')!), ['after', 'before', 'old'].map(someKey))
      assertEqual(snapshot.tree('t')!.get(someKey('old')), someValue(1))
      assertEqual(snapshot.tree('s')!.count(), 2)
    })
  })

  check('a large write happens whole or not at all', async (store) => {
    const fill = (transaction: WriteTransaction): void => {
      const tree = transaction.createTree('t', 'ordered')
      for (let n = 0; n < 30_000; n++) tree.insert(paddedKey(n), someValue(60, n))
    }
    await assertRejects(
      store.write((transaction) => {
        fill(transaction)
        throw new RangeError('on purpose')
      }),
      RangeError,
    )
    assertEqual(await store.read((snapshot) => snapshot.treeNames()), [])
    await store.write(fill)
    await store.write((transaction) => transaction.tree('t')!.delete(paddedKey(7)))
    const tree = await store.read((snapshot) => snapshot.tree('t')!.count({ gte: paddedKey(5), lt: paddedKey(29_000) }))
    assertEqual(tree, 28_994)
  })

  check('writes go on while a storage checkpoint runs', async (store) => {
    await withEntries(store)
    const before = (await newestKeys(store, 't'))!.length
    for (let round = 0; round < 3; round++) {
      const checkpoint = store.checkpoint()
      const writes = Array.from({ length: 20 }, (_, at) =>
        store.write((transaction) => transaction.tree('t')!.insert(someKey(`x${round}-${at}`), someValue(3000))),
      )
      await Promise.all([checkpoint, ...writes])
      await store.write((transaction) => transaction.tree('t')!.remove(someKey(`x${round}-7`), 3000))
    }
    const keys = (await newestKeys(store, 't'))!
    assertEqual(keys.length, before + 57)
    assertEqual(await store.read((snapshot) => snapshot.tree('t')!.count()), keys.length)
  })
}

function transactionCases(check: Case): void {
  check('a transaction that is held keeps the lease until it ends', async (store) => {
    await store.write((transaction) => void transaction.createTree('t', 'ordered'))
    const held = await store.begin()
    await held.attempt(() => held.tree('t')!.put(someKey('a'), someValue(1)))
    let written = false
    const write = store
      .write((transaction) => transaction.tree('t')!.get(someKey('a'))?.length)
      .then((length) => {
        written = true
        return length
      })
    const next = store.begin()
    await held.attempt(() => held.tree('t')!.put(someKey('a'), someValue(2)))
    assertEqual(await newestKeys(store, 't'), [], 'nobody else sees what is not committed')
    assertEqual(await held.attempt(() => keysOf(held.tree('t')!)), [someKey('a')])
    assertEqual(written, false)
    await held.commit()
    held.rollback()
    assertEqual(await write, 2)
    const second = await next
    assertEqual(await second.attempt(() => second.tree('t')!.get(someKey('a'))), someValue(2))
    second.rollback()
    assertEqual(await newestKeys(store, 't'), [someKey('a')], 'rolling back what was committed changes nothing')
  })

  check('of a transaction that is rolled back nothing stays', async (store) => {
    await withEntries(store)
    const keys = await newestKeys(store, 't')
    const held = await store.begin()
    await held.attempt(() => {
      held.createTree('u', 'sequence').append(someValue(1))
    })
    await held.attempt(() => held.dropTree('t'))
    assertEqual(held.treeNames(), ['u'])
    held.rollback()
    held.rollback()
    assertEqual(await newestKeys(store, 't'), keys)
    assertEqual(await newestKeys(store, 'u'), undefined)
    await store.write((transaction) => transaction.tree('t')!.put(someKey('after'), someValue(1)))
  })

  check('a large transaction is committed whole', async (store) => {
    const held = await store.begin()
    await held.attempt(() => void held.createTree('t', 'sequence'))
    for (let step = 0; step < 4; step++) {
      await held.attempt(() => {
        const tree = held.tree('t')!
        for (let n = 0; n < 50; n++) tree.append(someValue(12_000, step))
      })
    }
    await held.commit()
    const numbers = Array.from({ length: 200 }, (_, at) => at + 1)
    await store.read((snapshot) => {
      const tree = snapshot.tree('t')!
      assertEqual(tree.count(), 200)
      // All together: a walk would begin again for each of the large values that it misses.
      const values = tree.getMany(numbers.map(numberKey))
      for (const [at, value] of values.entries()) assertEqual(value, someValue(12_000, Math.floor(at / 50)))
    })
  })
}

function treeCases(check: Case): void {
  check('a tree that is dropped is gone at once, and its name is free', async (store) => {
    await withEntries(store)
    await store.checkpoint()
    await store.write((transaction) => transaction.dropTree('t'))
    assertEqual(await store.read((snapshot) => snapshot.tree('t')), undefined)
    await store.write((transaction) => transaction.createTree('t', 'sequence').append(someValue(4)))
    assertEqual(await newestKeys(store, 't'), [numberKey(1)])
    await store.checkpoint()
    await store.write((transaction) => {
      transaction.dropTree('t')
      transaction.createTree('t', 'ordered').insert(someKey('k'), someValue(1))
      transaction.createTree('u', 'inline').insert(someKey('k'), someValue(1))
      transaction.dropTree('u')
    })
    await store.checkpoint()
    await store.checkpoint()
    assertEqual(await newestKeys(store, 't'), [someKey('k')])
    assertEqual(await store.read((snapshot) => snapshot.treeNames()), ['t'])
  })

  check('names of trees are found by prefix, in order', async (store) => {
    const names = ['b', 'a/2', 'a/10', 'a', 'ab', 'c/\u00ff']
    await store.write((transaction) => names.forEach((name) => transaction.createTree(name, 'ordered')))
    await store.read((snapshot) => {
      assertEqual(snapshot.treeNames(), names.toSorted())
      assertEqual(snapshot.treeNames('a/'), ['a/10', 'a/2'])
      assertEqual(snapshot.treeNames('z'), [])
    })
  })

  check('inline trees hold small entries', async (store) => {
    await store.write((transaction) => {
      const tree = transaction.createTree('i', 'inline')
      for (const text of ['x', '', 'y']) tree.put(someKey(text), someValue(3, text.length))
    })
    await store.checkpoint()
    await store.write((transaction) => {
      const tree = transaction.tree('i')!
      tree.delete(someKey('x'))
      tree.put(someKey('y'), someValue(0))
    })
    await store.checkpoint()
    await store.read((snapshot) => {
      const tree = snapshot.tree('i')!
      assertEqual(keysOf(tree), ['', 'y'].map(someKey))
      assertEqual(tree.get(someKey('y')), someValue(0))
      assertEqual([tree.count(), tree.rank(someKey('z'))], [2, 2])
    })
  })

  check('sequence trees give each number once, whatever is removed', async (store) => {
    const append = (size: number): Promise<number> =>
      store.write((transaction) => transaction.tree('s')!.append(someValue(size)))
    await store.write((transaction) => void transaction.createTree('s', 'sequence'))
    const sizes = Array.from({ length: 150 }, (_, at) => [10, 700, 9000, 70_000, 0][at % 5]!)
    for (const [at, size] of sizes.entries()) assertEqual(await append(size), at + 1)
    const removed = (n: number): boolean => n % 3 === 0 || n > 140
    const remove = (numbers: readonly number[]): Promise<void> =>
      store.write((transaction) => {
        for (const n of numbers) transaction.tree('s')!.remove(numberKey(n), sizes[n - 1]!)
      })
    const numbers = sizes.map((_, at) => at + 1).filter(removed)
    await remove(numbers.slice(0, 10))
    await store.checkpoint()
    await remove(numbers.slice(10, 40))
    await store.checkpoint()
    await remove(numbers.slice(40))
    assertEqual(await store.read((snapshot) => snapshot.tree('s')!.lastNumber), 150, 'also when it was removed')
    await store
      .write((transaction) => {
        transaction.tree('s')!.append(someValue(1))
        assertEqual(transaction.tree('s')!.lastNumber, 151)
        throw new RangeError('undone')
      })
      .catch(() => {})
    assertEqual(await append(5), 151, 'the last numbers were removed, and are not used again')
    await store.checkpoint()
    const left = sizes.map((_, at) => at + 1).filter((n) => !removed(n))
    await store.read((snapshot) => {
      const tree = snapshot.tree('s')!
      assertEqual(keysOf(tree), [...left, 151].map(numberKey))
      assertEqual(tree.count({ gte: numberKey(50), lt: numberKey(100) }), left.filter((n) => n >= 50 && n < 100).length)
      assertEqual(tree.select(20)?.key, numberKey(left[20]!))
      const cursor = tree.cursor({}, { reverse: true, skip: 1 })
      assertTrue(cursor.next(), 'there is one')
      assertEqual([cursor.keyNumber, cursor.value.length], [left.at(-1)!, sizes[left.at(-1)! - 1]!])
    })
  })

  check('keys of any bytes and values of any size are kept exactly', async (store) => {
    const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte))
    const keys = [
      '',
      ...bytes,
      ...bytes.map((byte) => `a${byte}`),
      'p'.repeat(3000),
      `${'p'.repeat(3000)}q`,
      'q'.repeat(8000),
    ]
    const largeSizes = new Map([
      [3, 1_000_000],
      [150, 61_432],
      [151, 61_433],
      [300, 200_000],
    ])
    const sizeOf = (at: number): number => largeSizes.get(at) ?? [0, 1, 127, 128, 2047, 2048, 2049][at % 7]!
    await store.write((transaction) => {
      const tree = transaction.createTree('t', 'ordered')
      for (const [at, key] of keys.slice(0, 100).entries()) tree.insert(someKey(key), someValue(sizeOf(at), at))
    })
    await store.checkpoint()
    await store.write((transaction) => {
      const tree = transaction.tree('t')!
      for (const [at, key] of keys.entries()) if (at >= 100) tree.insert(someKey(key), someValue(sizeOf(at), at))
    })
    for (let round = 0; round < 2; round++) {
      await store.read((snapshot) => {
        const tree = snapshot.tree('t')!
        assertEqual(tree.count(), keys.length)
        assertEqual(keysOf(tree), keys.map(someKey).sort())
        for (const [at, key] of keys.entries()) assertEqual(tree.get(someKey(key)), someValue(sizeOf(at), at))
      })
      await store.checkpoint()
    }
    await store.write((transaction) => keys.forEach((key) => transaction.tree('t')!.delete(someKey(key))))
    await store.checkpoint()
    assertEqual(await newestKeys(store, 't'), [])
  })
}

function noticeCases(check: Case): void {
  check('each commit is told once it is visible, with what it changed', async (store) => {
    const notices: CommitNotice[] = []
    const seen: number[] = []
    const stop = store.onCommit((notice) => {
      notices.push(notice)
      const snapshot = store.snapshot()
      seen.push(snapshot.sequence)
      snapshot.release()
    })
    await store.write((transaction) => {
      const tree = transaction.createTree('t', 'ordered')
      for (const text of ['c', 'a', 'b']) tree.insert(someKey(text), someValue(1))
      tree.put(someKey('a'), someValue(2))
      transaction.createTree('i', 'inline').put(someKey('x'), someValue(1))
    })
    await store.write(() => 'nothing')
    await assertRejects(
      store.write((transaction) => {
        transaction.tree('t')!.put(someKey('z'), someValue(1))
        throw new RangeError('on purpose')
      }),
      RangeError,
    )
    await store.write((transaction) => transaction.dropTree('i'))
    stop()
    stop()
    await store.write((transaction) => transaction.tree('t')!.put(someKey('y'), someValue(1)))
    assertEqual(
      notices.map(({ local }) => local),
      [true, true],
    )
    assertEqual(notices[0]!.trees.get('t')?.keys, ['a', 'b', 'c'].map(someKey))
    assertEqual(notices[0]!.trees.get('i')?.keys, [someKey('x')])
    assertEqual([...notices[1]!.trees.keys()], ['i'])
    notices.forEach(({ sequence }, at) => assertTrue(seen[at]! >= sequence, 'a commit that is told of is visible'))
    assertTrue(notices[1]!.sequence > notices[0]!.sequence, 'commits are told in their order')
  })

  check('notices of writes that share a commit tell all of them', async (store) => {
    await store.write((transaction) => void transaction.createTree('t', 'ordered'))
    const told: Key[] = []
    store.onCommit(({ trees }) => told.push(...(trees.get('t')?.keys ?? [])))
    await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        store.write((transaction) => transaction.tree('t')!.insert(paddedKey(at), someValue(1))),
      ),
    )
    assertEqual(
      told.toSorted(),
      Array.from({ length: 10 }, (_, at) => paddedKey(at)),
    )
  })
}

/** What is being done, and what should be there. */
interface RandomRun {
  readonly store: CheckedKeyValueStore
  readonly random: Random
  readonly held: { readonly snapshot: HeldSnapshot; readonly model: Model }[]
  model: Model
}

const SEEDS = [11, 12, 13]

function randomCases(check: Case): void {
  for (const seed of SEEDS) {
    check(`random work agrees with a sorted map (seed ${seed})`, async (store) => {
      const run: RandomRun = { store, random: seededRandom(seed), held: [], model: new Map() }
      await store.write((transaction) => {
        run.model = new Map()
        createAll(transaction, run.model)
      })
      for (let round = 0; round < 8; round++) await randomRound(run, round)
      for (const { snapshot } of run.held) snapshot.release()
      await store.checkpoint()
      await store.read((snapshot) => compareAll(snapshot, run.model))
    })
  }
}

async function randomRound(run: RandomRun, round: number): Promise<void> {
  const { store, random, held } = run
  // Several at once, each on what the one before leaves; some of them fail.
  const writes = Array.from({ length: 1 + random.below(4) }, () => ({
    steps: randomSteps(random, random.pick([1, 20, 150])),
    fails: random.chance(0.2),
  }))
  const after: Model[] = []
  const outcomes = await Promise.allSettled(
    writes.map(({ steps, fails }, at) =>
      store.write((transaction) => {
        const before = after[at - 1] ?? run.model
        const model = copyModel(before)
        // A failing step leaves nothing. Set first, because the step runs again after a Miss.
        after[at] = fails ? before : model
        for (const step of steps) runStep(transaction, model, step)
        compareSome(transaction, model, seededRandom(round))
        if (fails) throw new RangeError('on purpose')
      }),
    ),
  )
  outcomes.forEach((outcome, at) => {
    if (outcome.status === 'rejected' && !(writes[at]!.fails && outcome.reason instanceof RangeError))
      throw outcome.reason
    assertEqual(outcome.status === 'rejected', writes[at]!.fails, 'whether the write failed')
  })
  run.model = after.at(-1)!
  if (random.chance(0.3)) held.push({ snapshot: store.snapshot(), model: copyModel(run.model) })
  if (random.chance(0.3)) await store.checkpoint()
  const compare = (snapshot: Snapshot, model: Model): void => compareSome(snapshot, model, seededRandom(round))
  await store.read((snapshot) => compare(snapshot, run.model))
  for (const { snapshot, model } of held) await snapshot.attempt(() => compare(snapshot, model))
}
