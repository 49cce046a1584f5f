/** `app.runInTransaction`: all or nothing, with hooks around each write. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { invalid } from '../../src/gateway/service-error.ts'
import type { HookApp } from '../../src/hooks/hook-app.ts'
import type { HookRecord } from '../../src/hooks/hook-record.ts'
import type { HookEvents, HookName } from '../../src/hooks/hook-events.ts'
import type { BoundHook, HookHandler } from '../../src/hooks/hooks.ts'
import { ADMIN, openWorld, refusal, type World } from '../records/world.ts'

let world: World
beforeEach(async () => {
  const name = { name: 'name', type: 'text', required: true }
  world = await openWorld([
    { name: 'accounts', type: 'base', fields: [name, { name: 'balance', type: 'number', min: 0 }] },
  ])
  const { id: collectionId } = world.definitions.get('accounts')
  const account = { name: 'account', type: 'relation', collectionId, cascadeDelete: true }
  await world.definitions.create(ADMIN.principal, { name: 'payments', type: 'base', fields: [name, account] })
  for (const [id, balance] of Object.entries({ ann: 10, bob: 0 }))
    await world.writes.create(ADMIN, 'accounts', { id: id.padEnd(15, '0'), name: id, balance })
})
afterEach(() => world.close())

const INVALID_OR_MISSING = [expect.stringMatching(/INVALID|NOT_FOUND/), expect.any(String)]
const NOT_FOUND = ['NOT_FOUND', expect.any(String)]
const TOO_MUCH = ['INVALID', 'Failed to update record.', { balance: 'validation_min_number_constraint' }]
const ANN = 'ann'.padEnd(15, '0')
const BOB = 'bob'.padEnd(15, '0')

function bound<Name extends HookName>(name: Name, handler: HookHandler<HookEvents[Name]>): BoundHook {
  return { name, handler, tags: [], source: 'hooks/test.ts:1' }
}

async function balances(): Promise<unknown[]> {
  const accounts = await world.stored('accounts')
  return [accounts[ANN]?.['balance'], accounts[BOB]?.['balance']]
}

/** Moves money, and refuses what an account has not. */
async function pay(app: HookApp, amount: number): Promise<void> {
  const [from, to] = [await app.findRecordById('accounts', ANN), await app.findRecordById('accounts', BOB)]
  to.set('balance+', amount)
  await app.save(to)
  from.set('balance-', amount)
  await app.save(from)
}

test('what a transaction writes is there as a whole, or not at all', async () => {
  const { app } = world
  expect(await app.runInTransaction((tx) => pay(tx, 4).then(() => 'paid'))).toBe('paid')
  expect(await balances()).toEqual([6, 4])
  expect(await refusal(app.runInTransaction((tx) => pay(tx, 7)))).toEqual(TOO_MUCH)
  expect(await balances()).toEqual([6, 4])
  const thrown = app.runInTransaction(async (tx) => {
    await pay(tx, 1)
    await tx.delete(await tx.findRecordById('accounts', BOB))
    throw invalid('No.')
  })
  expect(await refusal(thrown)).toEqual(['INVALID', 'No.'])
  expect(await balances()).toEqual([6, 4])
})

test('inside, a read has what was written; a filter is refused then, as it would not', async () => {
  const { app } = world
  await app.runInTransaction(async (tx) => {
    expect(await tx.findRecordsByFilter('accounts', "name = 'ann'")).toHaveLength(1)
    const made = tx.newRecord('payments', { name: 'first', account: ANN })
    await tx.save(made)
    expect(made.isNew()).toBe(false)
    made.set('name', 'second')
    await tx.save(made)
    expect((await tx.findRecordById('payments', made.id)).get('name')).toBe('second')
    expect((await tx.findFirstRecordByData('payments', 'name', 'second')).id).toBe(made.id)
    expect(await refusal(tx.findFirstRecordByData('payments', 'name', 'first'))).toMatchObject(NOT_FOUND)
    for (const read of [
      () => tx.findRecordsByFilter('payments', "name = 'second'"),
      () => tx.findFirstRecordByFilter('payments', "name = 'second'"),
      () => tx.countRecords('payments'),
    ])
      expect(await refusal(read())).toMatchObject(['INVALID', expect.stringContaining('before the first write')])
    expect(await world.stored('payments')).toEqual({})
    await tx.delete(await tx.findRecordById('accounts', ANN))
    // The payment goes along.
    expect(await refusal(tx.findRecordById('payments', made.id))).toMatchObject(NOT_FOUND)
  })
  expect(await world.stored('payments')).toEqual({})
  expect(await app.countRecords('accounts')).toBe(1)
})

test('transactions that run at the same time come one after another; none loses what another has written', async () => {
  const { app } = world
  await Promise.all(
    Array.from({ length: 10 }, () =>
      app.runInTransaction(async (tx) => {
        const record = await tx.findRecordById('accounts', BOB)
        record.set('balance', record.getInt('balance') + 1)
        await tx.save(record)
      }),
    ),
  )
  expect(await balances()).toEqual([10, 10])
})

test('hooks of its writes write in it before `next`, and end when all is stored, or nothing', async () => {
  const seen: string[] = []
  world.hooks.replace([
    bound('onRecordUpdate', async (e) => {
      if (e.record.collection().name !== 'accounts') return e.next()
      await e.app.save(e.app.newRecord('payments', { name: e.record.getString('name'), account: e.record.id }))
      await e.next()
      // The transaction has ended: this is a write of its own.
      seen.push(`${await e.app.countRecords('payments')} payments`)
    }),
    bound('onRecordAfterUpdateSuccess', (e) => (seen.push(`stored ${e.record.getString('name')}`), e.next())),
    bound('onRecordAfterUpdateError', (e) => (seen.push(`failed ${e.record.getString('name')}`), e.next())),
  ])
  const { app } = world
  await app.runInTransaction((tx) => pay(tx, 1))
  expect(seen.splice(0).toSorted()).toEqual(['2 payments', '2 payments', 'stored ann', 'stored bob'])
  expect(await refusal(app.runInTransaction((tx) => pay(tx, 100)))).toMatchObject(TOO_MUCH)
  expect(seen.toSorted()).toEqual(['failed ann', 'failed bob'])
  expect(Object.keys(await world.stored('payments'))).toHaveLength(2)
})

test('a write past the transaction fails at once, and takes the transaction with it', async () => {
  const { app } = world
  const work = app.runInTransaction(async (tx) => {
    await pay(tx, 1)
    const other = await app.findRecordById('accounts', BOB)
    other.set('name', 'robert')
    await app.save(other)
  })
  await expect(work).rejects.toMatchObject({ message: expect.stringContaining('transaction') })
  expect(await balances()).toEqual([10, 0])
  await app.runInTransaction((tx) => tx.runInTransaction((same) => pay(same, 1)))
  expect(await balances()).toEqual([9, 1])
})

test('a hook follows relations both ways, and asks rules for an account', async () => {
  const { app } = world
  await world.definitions.update(ADMIN.principal, 'payments', {
    updateRule: 'account.name = "ann" && @request.auth.id != ""',
    fields: [
      ...world.definitions.get('payments').fields,
      { name: 'seenBy', type: 'relation', collectionId: world.definitions.get('accounts').id, maxSelect: 3 },
    ],
  })
  const payments = [app.newRecord('payments', { name: 'a', account: ANN, seenBy: [BOB, ANN] })]
  payments.push(app.newRecord('payments', { name: 'b', account: BOB, seenBy: [] }))
  for (const payment of payments) await app.save(payment)
  const [first, second] = payments as [HookRecord, HookRecord]
  const names = async (by: HookApp, record: HookRecord, path: string): Promise<unknown[]> =>
    (await by.expandRecord(record, [path]))[path]!.map((one) => one.get('name'))
  expect(await names(app, first, 'account')).toEqual(['ann'])
  expect(await names(app, first, 'seenBy')).toEqual(['bob', 'ann'])
  expect(await names(app, second, 'seenBy')).toEqual([])
  expect(await names(app, await app.findRecordById('accounts', BOB), 'payments_via_account')).toEqual(['b'])
  expect(await names(app, second, 'account.payments_via_seenBy.account')).toEqual(['ann'])
  for (const path of ['none', 'name', 'payments_via_name', 'none_via_account', 'constructor'])
    expect(await refusal(names(app, first, path)), path).toEqual(INVALID_OR_MISSING)
  await app.runInTransaction(async (tx) => {
    await tx.save(tx.newRecord('payments', { name: 'c', account: BOB }))
    const bob = await tx.findRecordById('accounts', BOB)
    expect(await names(tx, bob, 'payments_via_account')).toHaveLength(2)
    expect(await refusal(tx.canAccessRecord(first, null, ''))).toMatchObject([
      'INVALID',
      expect.stringContaining('first write'),
    ])
  })
  const user = app.newRecord('users', { email: 'a@example.com', password: '12345678', passwordConfirm: '12345678' })
  await app.save(user)
  const { updateRule } = world.definitions.get('payments')
  const can = (record: HookRecord, by: HookRecord | null, rule = updateRule): Promise<boolean> =>
    app.canAccessRecord(record, by, rule)
  expect(await Promise.all([can(first, user), can(second, user), can(first, null)])).toEqual([true, false, false])
  expect(await Promise.all([can(second, null, ''), can(second, user, null)])).toEqual([true, false])
  expect(await can(first, user, 'none = 1')).toBe(false)
})

test('records are found by many ids at once, in their order, inside and outside of a transaction', async () => {
  const { app } = world
  const names = (records: readonly HookRecord[]): unknown[] => records.map((record) => record.get('name'))
  const ids = [BOB, 'missing00000000', ANN]
  expect(names(await app.findRecordsByIds('accounts', ids))).toEqual(['bob', 'ann'])
  await app.runInTransaction(async (tx) => {
    const ann = await tx.findRecordById('accounts', ANN)
    ann.set('name', 'Ann')
    await tx.save(ann)
    expect(names(await tx.findRecordsByIds('accounts', ids))).toEqual(['bob', 'Ann'])
  })
  expect(await refusal(app.findRecordsByIds('nothing', ids))).toMatchObject(NOT_FOUND)
})

test('a record is stored with what its fields refuse, without the hooks of validation, and not twice with one id', async () => {
  const { app, hooks } = world
  const ran: string[] = []
  const noting = (name: 'onRecordValidate' | 'onRecordCreate'): BoundHook =>
    bound(name, (e) => {
      ran.push(name)
      return e.next()
    })
  hooks.replace([noting('onRecordValidate'), noting('onRecordCreate')])
  const id = 'cid'.padEnd(15, '0')
  const unchecked = (balance: number): HookRecord => app.newRecord('accounts', { id, name: '', balance })
  expect(await refusal(app.save(unchecked(-5)))).toMatchObject([
    'INVALID',
    'Failed to create record.',
    { name: 'validation_required' },
  ])
  ran.length = 0
  await app.saveNoValidate(unchecked(-5))
  expect([ran, (await world.stored('accounts'))[id]]).toMatchObject([['onRecordCreate'], { name: '', balance: -5 }])
  expect(await refusal(app.saveNoValidate(unchecked(1)))).toEqual([
    'INVALID',
    'Failed to create record.',
    { id: 'validation_not_unique' },
  ])
  await app.runInTransaction(async (tx) => {
    const payment = tx.newRecord('payments', { account: 'nobody000000000' })
    await tx.saveNoValidate(payment)
    expect((await tx.findRecordById('payments', payment.id)).get('account')).toBe('nobody000000000')
  })
  await expect(app.saveNoValidate(app.newRecord('accounts', { id: '_x' }))).rejects.toMatchObject({ code: 'INVALID' })
})
