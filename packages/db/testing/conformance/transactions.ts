/**
 * Transactions whose steps overlap, are not waited for, fail, or come too late. Each case has a collection of two levels of pages,
 * so storages that answer later (slow-storage.ts, browsers) let steps meet in the midst of reading.
 */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { assertDefined, assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import type { SuiteContext } from '../suite.ts'

/** One database: each call gives a handle that has read nothing yet. The one before is closed. */
export interface TransactionFixture {
  open(): Promise<Database>
}

interface Account {
  readonly _id: string
  readonly n: number
  readonly pad: string
}

type Tx = Parameters<Parameters<Database['transaction']>[0]>[0]
type Case = (db: Database, accounts: Collection<Account>, reopen: () => Promise<Database>) => Promise<void>

const ACCOUNTS = 1200
const PAD = 'x'.repeat(100)

/** Long ids, so that their tree soon has two levels. */
export function accountId(n: number): string {
  return `account-${String(n).padStart(60, '0')}`
}

export function someAccounts(count: number): Account[] {
  return Array.from({ length: count }, (_, n) => ({ _id: accountId(n), n: 100, pad: PAD }))
}

const accountsOf = (db: Database): Collection<Account> => db.collection<Account>('accounts', { indexes: ['n'] })
const plus =
  (more: number) =>
  (account: Account): Account => ({ ...account, n: account.n + more })

export function transactionSuite({ test, create }: SuiteContext<() => TransactionFixture>): void {
  const check = (name: string, body: Case): void => {
    test(name, async () => {
      const fixture = create()
      let db = await fixture.open()
      await accountsOf(db).insert(someAccounts(ACCOUNTS))
      await db.flush()
      const reopen = async (): Promise<Database> => {
        await db.close()
        db = await fixture.open()
        return db
      }
      try {
        await reopen()
        await body(db, accountsOf(db), reopen)
        assertEqual((await db.check()).problems, [], 'in memory')
        await reopen()
        assertEqual((await db.check()).problems, [], 'opened again')
      } finally {
        await db.close()
      }
    })
  }
  overlapCases(check)
  forgottenCases(check)
  orderCases(check)
  endCases(check)
}

type Check = (name: string, body: Case) => void

function overlapCases(check: Check): void {
  check('a transfer whose two updates overlap, one of them warm', async (db, accounts, reopen) => {
    for (let n = 0; n < 4; n++) {
      const [from, to] = [accountId(n * 290 + 7), accountId(1190 - n * 290)]
      await accountsOf(db).update(to, (account) => ({ ...account, n: 100, pad: `${n}` }))
      await db.transaction((tx) => {
        const inside = tx.collection<Account>('accounts')
        return Promise.all([inside.update(from, plus(-10)), inside.update(to, plus(10))])
      })
      assertEqual(balances(await accountsOf(db).get([from, to])), [90, 110])
      db = await reopen()
      assertEqual(balances(await accountsOf(db).get([from, to])), [90, 110])
    }
    assertEqual(await accountsOf(db).find({ n: 110 }).count(), 4)
    assertDefined(accounts)
  })

  check('an insert that overlaps a read', async (db, accounts) => {
    await accounts.insert({ _id: 'warm', n: 1, pad: '' })
    await db.transaction((tx) => {
      const inside = tx.collection<Account>('accounts')
      return Promise.all([inside.get(accountId(500)), inside.insert({ _id: 'a', n: 1, pad: '' })])
    })
    assertEqual((await accounts.get('a'))?.n, 1)
  })

  check(
    'writes after a race that has left a step behind, and after a failure that was caught',
    async (db, accounts) => {
      await db.transaction(async (tx) => {
        const inside = tx.collection<Account>('accounts')
        await Promise.race([inside.get(accountId(900)), Promise.resolve()])
        await inside.insert({ _id: 'after the race', n: 1, pad: '' })
        const both = [inside.update('nobody', plus(1)), inside.update(accountId(300), plus(1))]
        await assertRejects(Promise.all(both), 'PANNIER_NOT_FOUND')
        await inside.insert({ _id: 'after the failure', n: 1, pad: '' })
      })
      const found = await accounts.get(['after the race', 'after the failure', accountId(300)])
      assertEqual(balances(found), [1, 1, 101])
    },
  )

  check('queries, lists, counts and searches beside writes', async (db, accounts) => {
    const read = await db.transaction(async (tx) => {
      const inside = tx.collection<Account>('accounts')
      const results = await Promise.all([
        inside.find({ n: 100 }).count(),
        inside.update(accountId(1), plus(1)),
        inside.find({ n: 101 }).toArray(),
        inside.delete([accountId(2), accountId(3)]),
        inside.find().count(),
        inside.find({ n: 100 }).sort('_id').first(),
        inside.insert(someAccounts(30).map(({ _id, ...rest }) => ({ ...rest, _id: `more ${_id}` }))),
        inside.find({ n: { $gte: 100 } }).count(),
        inside.get(accountId(2)),
      ])
      return [results[0], results[2].length, results[4], results[5]?._id, results[7], results[8]]
    })
    assertEqual(read, [ACCOUNTS, 1, ACCOUNTS - 2, accountId(0), ACCOUNTS + 28, undefined])
    assertEqual(await accounts.find().count(), ACCOUNTS + 28)
  })

  check('writes in a loop over the same collection', async (db, accounts) => {
    let turns = 0
    await db.transaction(async (tx) => {
      const inside = tx.collection<Account>('accounts')
      for await (const { _id } of inside.find({ n: 100 })) {
        turns++
        // Takes the row out of the index that is read, and adds one to it.
        void inside.update(_id, plus(1))
        if (turns % 10 === 0) await inside.insert({ _id: `new ${_id}`, n: 100, pad: '' })
      }
    })
    assertEqual(turns, ACCOUNTS)
    assertEqual(await accounts.find({ n: 101 }).count(), ACCOUNTS)
    assertEqual(await accounts.find({ n: 100 }).count(), ACCOUNTS / 10)
  })
}

function forgottenCases(check: Check): void {
  check('a read that nobody waits for', async (_, __, reopen) => {
    for (let n = 0; n < 3; n++) {
      const db = await reopen()
      const accounts = accountsOf(db)
      await accounts.insert({ _id: `warm ${n}`, n: 1, pad: '' })
      await db.transaction(async (tx) => {
        const inside = tx.collection<Account>('accounts')
        void inside.get(accountId(n * 350))
        await inside.insert({ _id: `paid ${n}`, n: 1, pad: '' })
      })
      assertEqual((await accounts.get(`paid ${n}`))?.n, 1)
      await accounts.insert({ _id: `next ${n}`, n: 1, pad: '' })
      const again = accountsOf(await reopen())
      assertEqual(balances(await again.get([`paid ${n}`, `next ${n}`])), [1, 1])
    }
  })

  check('what was begun and not waited for is committed with the rest', async (db, accounts) => {
    const outcomes: Promise<unknown>[] = []
    await db.transaction((tx) => {
      const inside = tx.collection<Account>('accounts')
      outcomes.push(...oddSteps(inside, 'x'))
    })
    for (const outcome of await Promise.allSettled(outcomes))
      assertTrue(outcome.status === 'fulfilled', `all of them: ${String((outcome as PromiseRejectedResult).reason)}`)
    assertEqual(balances(await accounts.get(['x 1', 'x 2', accountId(40), accountId(41)])), [1, 2, 107, undefined])
    assertEqual(await (await accounts.getAttachment('x 3', 'note.txt'))?.text(), 'paid')
  })

  check('a function that throws while steps are under way leaves nothing', async (db, accounts) => {
    const outcomes: Promise<unknown>[] = []
    const failing = db.transaction(async (tx) => {
      const inside = tx.collection<Account>('accounts')
      await inside.insert({ _id: 'before', n: 1, pad: '' })
      outcomes.push(...oddSteps(inside, 'y'))
      throw new RangeError('on purpose')
    })
    for (const outcome of outcomes) outcome.catch(() => {})
    await assertRejects(failing, RangeError)
    await Promise.allSettled(outcomes)
    assertEqual(balances(await accounts.get(['before', 'y 1', 'y 2', 'y 3', accountId(40)])), [
      undefined,
      undefined,
      undefined,
      undefined,
      100,
    ])
    assertEqual(await accounts.find().count(), ACCOUNTS)
    await accounts.insert({ _id: 'later', n: 1, pad: '' })
  })

  check(
    'a write that nobody waits for and that fails at the end takes the transaction with it',
    async (db, accounts) => {
      let lost: Promise<unknown> | undefined
      const failing = db.transaction(async (tx) => {
        const inside = tx.collection<Account>('accounts')
        await inside.insert({ _id: 'first', n: 1, pad: '' })
        lost = inside.insert({ _id: accountId(777), n: 1, pad: '' })
        lost.catch(() => {})
      })
      await assertRejects(failing, 'PANNIER_CONFLICT')
      assertEqual(await accounts.get('first'), undefined)
    },
  )

  check('a loop that was left, and one that nobody goes on with', async (db, accounts) => {
    await db.transaction(async (tx) => {
      const inside = tx.collection<Account>('accounts')
      for await (const _ of inside.find()) break
      const left = inside.find({ n: 100 })[Symbol.asyncIterator]()
      await left.next()
      await inside.insert({ _id: 'a', n: 1, pad: '' })
    })
    assertEqual((await accounts.get('a'))?.n, 1)
  })
}

/** Steps of every kind, none of them waited for. */
function oddSteps(inside: ReturnType<Tx['collection']>, prefix: string): Promise<unknown>[] {
  const accounts = inside as unknown as Collection<Account>
  const all = async (): Promise<number> => {
    let rows = 0
    for await (const _ of accounts.find()) rows++
    return rows
  }
  return [
    accounts.insert({ _id: `${prefix} 1`, n: 1, pad: '' }),
    accounts.get(accountId(1000)),
    accounts.find({ n: 100 }).toArray(),
    accounts.update(accountId(40), plus(7)),
    all(),
    accounts.delete(accountId(41)),
    accounts.putAttachment(`${prefix} 3`, 'note.txt', new TextEncoder().encode('paid')),
    accounts.upsert({ _id: `${prefix} 2`, n: 2, pad: '' }),
    accounts.find().count(),
    accounts.info(),
  ]
}

function orderCases(check: Check): void {
  check('steps take effect in the order in which they were asked for', async (db, accounts) => {
    const [cold, warm] = [accountId(600), 'warm']
    await accounts.insert({ _id: warm, n: 0, pad: '' })
    const seen = await db.transaction((tx) => {
      const inside = tx.collection<Account>('accounts')
      return Promise.all([
        inside.update(cold, plus(1)).then(() => inside.get(cold)),
        inside.delete(cold),
        inside.get(cold),
        inside.insert({ _id: cold, n: 7, pad: '' }),
        inside.update(cold, ({ n, ...rest }) => ({ ...rest, n: n * 2 })),
        inside.get(cold),
        inside.upsert({ _id: warm, n: 1, pad: '' }),
        inside.get(warm),
      ])
    })
    assertEqual([seen[2], seen[5]?.n, seen[7]?.n], [undefined, 14, 1])
    assertEqual((await accounts.get(cold))?.n, 14)
  })

  check('a write that the function of another one asks for is a step of its own', async (db, accounts) => {
    const asked: Promise<unknown>[] = []
    await db.transaction(async (tx) => {
      const inside = tx.collection<Account>('accounts')
      await inside.update(accountId(800), (account) => {
        asked.push(inside.upsert({ _id: 'from inside', n: 5, pad: '' }))
        return plus(1)(account)
      })
      await Promise.all(asked)
    })
    assertEqual(balances(await accounts.get(['from inside', accountId(800)])), [5, 101])
  })

  check('many steps at once wait for pages together', async (db, accounts) => {
    const ids = Array.from({ length: 60 }, (_, n) => accountId(n * 20))
    await db.transaction((tx) => {
      const inside = tx.collection<Account>('accounts')
      return Promise.all(ids.map((id) => inside.update(id, plus(5))))
    })
    assertEqual(await accounts.find({ n: 105 }).count(), 60)
  })
}

function endCases(check: Check): void {
  check('whatever touches a transaction that has ended is told so', async (db, accounts) => {
    let left: Tx | undefined
    await db.transaction(async (tx) => {
      left = tx
      await tx.collection<Account>('accounts').insert({ _id: 'a', n: 1, pad: '' })
    })
    assertDefined(left)
    await useAfterEnd(left, undefined)
    let inside: Collection<Account> | undefined
    await assertRejects(
      db.transaction((tx) => {
        left = tx
        inside = tx.collection<Account>('accounts') as unknown as Collection<Account>
        throw new RangeError('on purpose')
      }),
      RangeError,
    )
    await useAfterEnd(left, inside)
    assertEqual(await accounts.find().count(), ACCOUNTS + 1)
  })

  check('a loop that goes on after the end is cut off', async (db) => {
    let rows: AsyncIterator<Account> | undefined
    await db.transaction(async (tx) => {
      rows = tx.collection<Account>('accounts').find()[Symbol.asyncIterator]()
      await rows.next()
    })
    assertDefined(rows)
    const goOn = async (): Promise<void> => {
      while ((await rows!.next()).done !== true) continue
    }
    await assertRejects(goOn(), 'PANNIER_TRANSACTION_ENDED')
  })
}

async function useAfterEnd(tx: Tx, inside: Collection<Account> | undefined): Promise<void> {
  const ended = 'PANNIER_TRANSACTION_ENDED'
  assertThrows(() => tx.collection('accounts'), ended)
  if (inside === undefined) return
  await assertRejects(inside.get(accountId(1)), ended)
  await assertRejects(inside.insert({ _id: 'too late', n: 1, pad: '' }), ended)
  await assertRejects(inside.update(accountId(1), plus(1)), ended)
  await assertRejects(inside.delete(accountId(1)), ended)
  await assertRejects(inside.find().toArray(), ended)
  await assertRejects(inside.find().count(), ended)
  await assertRejects(inside.list().page(), ended)
  await assertRejects(inside.info(), ended)
  await assertRejects(inside.putAttachment('a', 'b', new Uint8Array(3)), ended)
  await assertRejects(inside.local.put({ _id: 'a' }), ended)
}

function balances(accounts: readonly (Account | undefined)[]): (number | undefined)[] {
  return accounts.map((account) => account?.n)
}
