/** What a key-value store guarantees to several handles on one database, and to those that open it again. */
import type { Key } from '../../src/base/brand.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import type { CommitNotice } from '../../src/kv/key-value-store.ts'
import { assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { eventually } from '../suite.ts'
import {
  keysOf,
  newestKeys,
  paddedKey,
  someKey,
  someValue,
  type CheckedKeyValueStore,
  type KeyValueFixture,
  type KeyValueSuiteContext,
} from './key-value-fixture.ts'

export function keyValueHandlesSuite(context: KeyValueSuiteContext): void {
  reopenCases(context)
  handleCases(context)
}

/** Opens so many handles, runs `body`, checks and closes. */
async function withHandles(
  fixture: KeyValueFixture,
  count: number,
  body: (...handles: CheckedKeyValueStore[]) => Promise<void>,
): Promise<void> {
  const handles: CheckedKeyValueStore[] = []
  try {
    for (let n = 0; n < count; n++) handles.push(await fixture.open())
    await body(...handles)
    await handles[0]!.refresh()
    await handles[0]!.check?.()
  } finally {
    for (const handle of handles) await handle.close()
  }
}

function reopenCases({ test, create }: KeyValueSuiteContext): void {
  test('what was committed is there when the database is opened again', async () => {
    const fixture = create()
    await withHandles(fixture, 1, async (store) => {
      await store!.write((transaction) => {
        transaction.createTree('t', 'ordered').insert(someKey('log'), someValue(3))
        transaction.createTree('s', 'sequence').append(someValue(100_000))
        transaction.createTree('i', 'inline').insert(someKey('x'), someValue(1))
        transaction.createTree('gone', 'ordered').insert(someKey('x'), someValue(5000))
      })
    })
    const look = async (store: CheckedKeyValueStore, keys: readonly Key[]): Promise<void> => {
      assertEqual(await newestKeys(store, 't'), [...keys])
      await store.read((snapshot) => {
        assertEqual(snapshot.tree('s')!.get(numberKey(1)), someValue(100_000))
        assertEqual(snapshot.tree('i')!.get(someKey('x')), someValue(1))
      })
    }
    await withHandles(fixture, 1, async (store) => {
      await look(store!, [someKey('log')])
      await store!.checkpoint()
    })
    await withHandles(fixture, 1, async (store) => {
      await look(store!, [someKey('log')])
      await store!.write((transaction) => {
        transaction.tree('t')!.insert(someKey('tail'), someValue(4))
        transaction.tree('s')!.append(someValue(2))
        transaction.dropTree('gone')
      })
    })
    await withHandles(fixture, 1, async (store) => {
      await look(store!, [someKey('log'), someKey('tail')])
      assertEqual(await store!.read((snapshot) => snapshot.treeNames()), ['i', 's', 't'])
      await store!.write((transaction) => {
        transaction.tree('s')!.remove(numberKey(2), 2)
        assertEqual(transaction.tree('s')!.append(someValue(1)), 3)
      })
      await store!.checkpoint()
    })
    await withHandles(fixture, 1, async (store) => {
      assertEqual(await store!.write((transaction) => transaction.tree('s')!.append(someValue(1))), 4)
      await look(store!, [someKey('log'), someKey('tail')])
    })
  })

  test('closing finishes what was asked for, and then refuses', async () => {
    const fixture = create()
    const store = await fixture.open()
    await store.write((transaction) => void transaction.createTree('t', 'ordered'))
    const writes = [1, 2, 3].map((n) =>
      store.write((transaction) => transaction.tree('t')!.put(paddedKey(n), someValue(n))),
    )
    const closed = store.close()
    await Promise.all(writes)
    await Promise.all([closed, store.close()])
    assertThrows(() => store.read(() => 1), 'PANNIER_CLOSED')
    assertThrows(() => store.snapshot(), 'PANNIER_CLOSED')
    for (const call of [
      () => store.write(() => 1),
      () => store.begin(),
      () => store.refresh(),
      () => store.checkpoint(),
    ]) {
      await assertRejects((async () => call())(), 'PANNIER_CLOSED')
    }
    await withHandles(fixture, 1, async (again) => {
      assertEqual((await newestKeys(again!, 't'))?.length, 3)
    })
  })

  test('a key that is too large is refused, and nothing of its write stays', async () => {
    await withHandles(create(), 1, async (store) => {
      await store!.write((transaction) => void transaction.createTree('t', 'ordered'))
      const write = store!.write((transaction) => {
        transaction.tree('t')!.put(someKey('a'), someValue(1))
        transaction.tree('t')!.put(someKey('k'.repeat(9000)), someValue(1))
      })
      await assertRejects(write, 'PANNIER_KEY_TOO_LARGE')
      assertEqual(await newestKeys(store!, 't'), [])
    })
  })
}

function handleCases({ test, create }: KeyValueSuiteContext): void {
  test('handles see what others have committed, and hear of it', async () => {
    await withHandles(create(), 3, async (...handles) => {
      const notices: CommitNotice[][] = handles.map(() => [])
      handles.forEach((handle, at) => handle.onCommit((notice) => notices[at]!.push(notice)))
      await handles[0]!.write((transaction) => transaction.createTree('t', 'ordered').put(someKey('a'), someValue(1)))
      await handles[1]!.refresh()
      assertEqual(await newestKeys(handles[1]!, 't'), [someKey('a')])
      await handles[1]!.write((transaction) => transaction.tree('t')!.put(someKey('b'), someValue(1)))
      await eventually(() => notices.every((heard) => heard.length === 2))
      assertEqual(
        notices.map((heard) => heard.map(({ local }) => local)),
        [
          [true, false],
          [false, true],
          [false, false],
        ],
      )
      for (const heard of notices) {
        assertEqual(
          heard.map(({ trees }) => trees.get('t')?.keys),
          [[someKey('a')], [someKey('b')]],
        )
      }
      assertEqual(await newestKeys(handles[2]!, 't'), ['a', 'b'].map(someKey))
    })
  })

  test('handles that write at once lose nothing of one another', async () => {
    await withHandles(create(), 3, async (...handles) => {
      await handles[0]!.write((transaction) => {
        transaction.createTree('t', 'ordered').put(someKey('n'), someValue(0))
        transaction.createTree('s', 'sequence')
      })
      const rounds = 12
      const numbers = await Promise.all(
        handles.flatMap((handle, at) =>
          Array.from({ length: rounds }, async (_, round) => {
            if (round % 5 === at) await handle.checkpoint()
            return handle.write((transaction) => {
              const tree = transaction.tree('t')!
              tree.put(someKey('n'), someValue(tree.get(someKey('n'))!.length + 1))
              tree.insert(someKey(`${at}-${round}`), someValue(2000))
              return transaction.tree('s')!.append(someValue(10))
            })
          }),
        ),
      )
      const total = rounds * handles.length
      assertEqual(
        numbers.toSorted((a, b) => a - b),
        Array.from({ length: total }, (_, at) => at + 1),
      )
      for (const handle of handles) {
        await handle.refresh()
        await handle.read((snapshot) => {
          const tree = snapshot.tree('t')!
          assertEqual(
            [tree.get(someKey('n'))!.length, tree.count(), keysOf(tree).length],
            [total, total + 1, total + 1],
          )
        })
        await handle.check?.()
      }
    })
  })

  test('a snapshot is kept alive while another handle moves on', async () => {
    await withHandles(create(), 2, async (first, second) => {
      const keys = Array.from({ length: 2000 }, (_, at) => paddedKey(at))
      await first!.write((transaction) => {
        const tree = transaction.createTree('t', 'ordered')
        for (const key of keys) tree.insert(key, someValue(100))
      })
      await first!.checkpoint()
      await second!.refresh()
      const held = second!.snapshot()
      for (let round = 0; round < 4; round++) {
        await first!.write((transaction) => {
          for (let n = round; n < 2000; n += 4) transaction.tree('t')!.replace(paddedKey(n), someValue(50, round))
        })
        await first!.checkpoint()
      }
      await second!.refresh()
      await held.attempt(() => {
        const tree = held.tree('t')!
        assertEqual(keysOf(tree), keys)
        for (const key of keys) assertEqual(tree.get(key), someValue(100))
      })
      held.release()
    })
  })

  test('a transaction that is held keeps the other handles waiting', async () => {
    await withHandles(create(), 2, async (first, second) => {
      await first!.write((transaction) => transaction.createTree('t', 'ordered').put(someKey('n'), someValue(1)))
      const held = await first!.begin()
      const write = second!.write((transaction) => {
        const length = transaction.tree('t')!.get(someKey('n'))!.length
        transaction.tree('t')!.put(someKey('n'), someValue(length * 2))
      })
      await held.attempt(() =>
        held.tree('t')!.put(someKey('n'), someValue(held.tree('t')!.get(someKey('n'))!.length + 4)),
      )
      await held.commit()
      await write
      await first!.refresh()
      assertEqual(await first!.read((snapshot) => snapshot.tree('t')!.get(someKey('n'))), someValue(10))
      assertTrue((await newestKeys(second!, 't'))!.length === 1, 'there is one entry')
    })
  })
}
